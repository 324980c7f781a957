package launch

import (
	"fmt"
	"strconv"
	"strings"
)

// llamaPath finds the server in the project's own images (.devops/*.Dockerfile), which
// hold it outside of PATH.
const llamaPath = "PATH=$PATH:/app"

// llama writes `llama-server`. Layers are split over the devices of a node and over
// rpc workers; rows only within a node. There is neither data nor expert
// parallelism inside an instance.
func (b *builder) llama(r role) (g group, err error) {
	s, a := r.layout, &args{}
	switch {
	case r.name != "":
		return g, b.lacks("disaggregated prefill and decode", "")
	case s.DP > 1:
		return g, fmt.Errorf("llamacpp has no data parallelism inside an instance, dp=%d: use replicas=%d", s.DP, s.DP)
	case s.EP > 1 || s.DCP > 1 || s.Redundant > 0:
		return g, fmt.Errorf("llamacpp cuts experts as tp does and keeps whole caches: leave ep, dcp and redundant out")
	case s.TP > 1 && s.PP > 1:
		return g, fmt.Errorf("llamacpp splits by rows or by layers, not tp=%d beside pp=%d: use tp=%d or pp=%d", s.TP, s.PP, s.GPUs(), s.GPUs())
	case b.Serve.TwoBatch || b.Serve.Quantization != "":
		return g, fmt.Errorf("llamacpp takes its formats from the GGUF file and overlaps no batches: leave --quantization and --overlap out")
	}
	if g.nodes, g.gpus, err = b.spread(s.GPUs()); err != nil {
		return g, err
	}
	if s.TP > 1 && g.nodes > 1 {
		return g, fmt.Errorf("llamacpp splits rows within a node of %d, not tp=%d: use pp=%d over rpc workers", b.NodeGPUs, s.TP, s.TP)
	}
	source, err := b.ggufFlag()
	if err != nil {
		return g, err
	}
	a.add("llama-server", source, b.ModelPath, "--alias", b.servedName(), "--host", "0.0.0.0", "--port", strconv.Itoa(b.Serve.Port), "--n-gpu-layers", "all")
	g.args, g.ready, g.prepare = 1, "/health", llamaPath
	switch {
	case s.TP > 1:
		a.add("--split-mode", "row", "--tensor-split", strings.TrimSuffix(strings.Repeat("1,", s.TP), ","))
	case s.PP > 1:
		a.add("--split-mode", "layer", "--tensor-split", strings.TrimSuffix(strings.Repeat("1,", s.PP), ","))
	default:
		a.add("--split-mode", "none")
	}
	if err := b.llamaOptions(a); err != nil {
		return g, err
	}
	g.leader = a.words
	if g.nodes > 1 {
		err = b.llamaWorkers(&g, a)
	}
	return g, err
}

// ggufFlag is the flag by which llama.cpp takes the model, which is a GGUF file or a
// repository of the hub that holds some.
func (b *builder) ggufFlag() (string, error) {
	switch p := strings.ToLower(b.ModelPath); {
	case strings.HasSuffix(p, ".gguf"), strings.HasPrefix(p, "/"), strings.HasPrefix(p, "."):
		return "--model", nil
	case strings.Count(p, "/") == 1 && strings.Contains(p, "gguf"):
		return "--hf-repo", nil
	}
	return "", fmt.Errorf("llamacpp loads a GGUF file, which %s is not: give --model-path FILE.gguf, or a repository of the hub such as ORG/NAME-GGUF", b.ModelPath)
}

func (b *builder) llamaOptions(a *args) error {
	o := &b.Serve
	kv, err := b.kvName()
	if err != nil {
		return err
	}
	if kv != "" {
		a.add("--cache-type-k", kv, "--cache-type-v", kv)
		if strings.HasPrefix(kv, "q") { // quantised values need it
			a.add("--flash-attn", "on")
		}
	}
	if o.MaxContext > 0 { // the context is shared by the slots
		a.count("--ctx-size", o.MaxContext*max(o.MaxSequences, 1))
	}
	a.count("--parallel", o.MaxSequences)
	a.count("--batch-size", o.BatchTokens)
	if o.PrefixCache != nil && !*o.PrefixCache {
		a.add("--no-cache-prompt")
	}
	if o.Drafts > 0 {
		a.add("--spec-type", "draft-mtp", "--spec-draft-n-max", strconv.Itoa(o.Drafts))
	}
	if o.StreamInterval > 1 {
		return b.lacks(fmt.Sprintf("stream interval of %d", o.StreamInterval), "one chunk per token")
	}
	return nil
}
