package launch

import (
	"fmt"
	"strconv"

	"sigs.k8s.io/yaml"
)

// trtllmConfig is the YAML that trtllm-serve takes beside its flags, the keys of
// tensorrt_llm/llmapi/llm_args.py that Ridgeline sets.
type trtllmConfig struct {
	KVCache     *trtllmKV          `json:"kv_cache_config,omitempty"`
	Speculative *trtllmSpeculative `json:"speculative_config,omitempty"`
	Stream      int64              `json:"stream_interval,omitempty"`
	Transceiver *trtllmTransceiver `json:"cache_transceiver_config,omitempty"`
	NoOverlap   bool               `json:"disable_overlap_scheduler,omitempty"`
}

type trtllmKV struct {
	DType string `json:"dtype,omitempty"`
	Reuse *bool  `json:"enable_block_reuse,omitempty"`
}

type trtllmSpeculative struct {
	Type   string `json:"decoding_type"`
	Drafts int    `json:"max_draft_len"` // num_nextn_predict_layers in versions before
}

type trtllmTransceiver struct {
	Backend string `json:"backend"`
	Buffer  int64  `json:"max_tokens_in_buffer,omitempty"` // of one request's cache at least
}

// trtllm writes `trtllm-serve`. Attention DP takes every TP rank, so that a plan
// has tp or dp; EP divides their number.
func (b *builder) trtllm(r role) (g group, err error) {
	s, a := r.layout, &args{}
	switch {
	case s.TP > 1 && s.DP > 1:
		return g, fmt.Errorf("trtllm's attention DP takes every tp rank, not tp=%d beside dp=%d: use tp=1,dp=%d or tp=%d,dp=1", s.TP, s.DP, s.Ranks(), s.Ranks())
	case s.DCP > 1:
		return g, b.lacks("decode context parallelism in trtllm-serve's flags", "")
	case s.Redundant > 0:
		return g, b.lacks("redundant experts among the settings that this flag list covers", "")
	case b.Serve.TwoBatch:
		return g, b.lacks("overlap of two micro-batches", "")
	case b.Serve.Quantization != "":
		return g, fmt.Errorf("trtllm takes its quantisation from the checkpoint: leave --quantization out")
	}
	n, each, most := b.ownSequences(r), int64(1+b.Serve.Drafts), b.ownTokens(r)
	if r.name != prefill && n > 0 && most > 0 && most < n*each {
		return g, fmt.Errorf("trtllm decodes %d requests of %d tokens each step and may batch %d tokens: raise --batch-tokens to %d", n, each, most, n*each)
	}
	if g.nodes, g.gpus, err = b.spread(s.GPUs()); err != nil {
		return g, err
	}
	d := Degrees{TP: s.Ranks(), PP: s.PP, EP: s.EP, DPAttention: s.DP > 1}
	config, err := b.trtllmYAML(r)
	if err != nil {
		return g, err
	}
	if g.nodes > 1 { // one process per GPU, the first of which serves
		a.add("trtllm-llmapi-launch")
		g.mpi = true
	}
	a.add("trtllm-serve", b.ModelPath, "--host", "0.0.0.0", "--port", strconv.Itoa(b.Serve.Port))
	g.args, g.ready = len(a.words)-5, "/health"
	a.add("--served_model_name", b.servedName())
	a.add(d.Flags(b.Engine)...)
	a.count("--max_seq_len", b.Serve.MaxContext)
	a.count("--max_batch_size", b.ownSequences(r))
	a.count("--max_num_tokens", b.ownTokens(r))
	if g.nodes > 1 {
		a.size("--gpus_per_node", g.gpus, 0)
	}
	if config != "" {
		name := b.Name + ".yaml"
		if r.name != "" {
			name = b.Name + "-" + r.name + ".yaml"
		}
		a.ref("--extra_llm_api_options", Word{Ref: ConfigDir, After: "/" + name})
		g.files = []File{{Name: name, Content: comment("#", b.header(b.list)) + config}}
	}
	g.leader = a.words
	return g, nil
}

// trtllmYAML is the configuration file of a role, "" where it would be empty.
func (b *builder) trtllmYAML(r role) (string, error) {
	kv, err := b.kvName()
	if err != nil {
		return "", err
	}
	c := trtllmConfig{Stream: b.Serve.StreamInterval}
	if kv != "" || b.Serve.PrefixCache != nil {
		c.KVCache = &trtllmKV{kv, b.Serve.PrefixCache}
	}
	if b.Serve.Drafts > 0 {
		c.Speculative = &trtllmSpeculative{"MTP", b.Serve.Drafts}
	}
	if r.name != "" {
		c.Transceiver = &trtllmTransceiver{"NIXL", b.Serve.MaxContext}
		c.NoOverlap = r.name == prefill // which context servers do not have (docs, disaggregated serving)
	}
	if c == (trtllmConfig{}) {
		return "", nil
	}
	out, err := yaml.Marshal(c)
	return string(out), err
}
