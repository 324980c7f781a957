package modelfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/model"
)

// archKeys are the keys of arch_params, in the order in which they apply:
// layers before dense_layers, n_params last.
var archKeys = []string{
	"layers", "hidden", "vocab", "heads", "kv_heads", "head_dim", "q_lora", "kv_lora", "nope", "rope", "v_head",
	"ffn", "experts", "topk", "moe_ffn", "shared_ffn", "dense_layers", "n_params",
}

// archParams is a parsed arch_params: key=value pairs joined by semicolons.
type archParams map[string]int64

func parseArchParams(text string) (archParams, error) {
	p := archParams{}
	if strings.TrimSpace(text) == "" {
		return p, nil
	}
	for _, pair := range strings.Split(text, ";") {
		key, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok {
			return nil, fmt.Errorf("arch_params %q is not key=value", pair)
		}
		if !slices.Contains(archKeys, key) {
			return nil, fmt.Errorf("arch_params key %q is not understood; known are %s", key, strings.Join(archKeys, " "))
		}
		if _, twice := p[key]; twice {
			return nil, fmt.Errorf("arch_params key %s appears twice; keep one", key)
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 || key != "n_params" && n > maxCount {
			return nil, fmt.Errorf("arch_params %s is %q; it must be a whole number", key, value)
		}
		p[key] = n
	}
	return p, nil
}

// FromArchParams builds a model that has no catalogue entry from the arch_params
// of a published run. layers, hidden and heads are required; the rest are GPT's
// defaults: kv_heads = heads, ffn = 4 x hidden without a gate, 51,200 words,
// LayerNorm, biases, 2,048 learned positions, tied embeddings. Names with llama,
// grok or deepseek have gated FFNs, RMSNorm, no biases, no learned positions and
// an untied head. kv_lora makes the attention latent, experts the FFN routed.
func FromArchParams(name, params string) (*model.Model, error) {
	p, err := parseArchParams(params)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, key := range []string{"layers", "hidden", "heads"} {
		if p[key] == 0 {
			return nil, fmt.Errorf("%s: %s is missing from arch_params and no model of that name is known; add it", name, key)
		}
	}
	if p["layers"] > maxLayers {
		return nil, fmt.Errorf("%s: arch_params layers is %d; it must be at most %d", name, p["layers"], maxLayers)
	}
	m := &model.Model{Name: name, Architecture: "arch_params", Hidden: p["hidden"], Vocab: 51200, Source: "arch_params " + params}
	gate := slices.ContainsFunc([]string{"llama", "grok", "deepseek"}, func(s string) bool { return strings.Contains(strings.ToLower(name), s) })
	l := model.Layer{Norms: 2, Attention: p.attention(m.Hidden, !gate), FFN: p.ffn(m.Hidden, gate)}
	if !gate {
		m.Norm, m.Positions, m.MaxContext, m.Tied = model.LayerNorm, 2048, 2048, true
	}
	m.Layers = slices.Repeat([]model.Layer{l}, int(p["layers"]))
	for i := range min(p["dense_layers"], p["layers"]) {
		m.Layers[i].FFN = model.FFN{Inner: max(p["ffn"], 1), Gated: gate, Bias: !gate}
	}
	if err := p.apply(m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// attention is the starting point that apply completes.
func (p archParams) attention(hidden int64, bias bool) model.Attention {
	if p["kv_lora"] > 0 {
		return model.Attention{Kind: model.MLA, Heads: p["heads"], QRank: p["q_lora"], KVRank: p["kv_lora"],
			Rope: p["rope"], QKDim: p["nope"] + p["rope"], VDim: p["v_head"]}
	}
	d := hidden / p["heads"]
	return model.Attention{Heads: p["heads"], KVHeads: p["heads"], QKDim: d, VDim: d, QKVBias: bias, OutBias: bias}
}

// ffn takes ffn for the experts' width where moe_ffn is not given.
func (p archParams) ffn(hidden int64, gate bool) model.FFN {
	f := model.FFN{Inner: 4 * hidden, Gated: gate, Bias: !gate}
	if p["experts"] > 0 {
		f.Inner, f.Experts, f.TopK, f.ExpertInner = 0, p["experts"], p["topk"], p["ffn"]
	}
	return f
}

// Override returns a copy of m with single fields replaced by the arch_params of
// a published run. Fewer layers than m has are its first ones; more repeat them
// where all are alike. Head sizes follow hidden and heads where they did before.
// n_params is the run's stated count: learned positions follow the run's sequence
// length, so they are solved for; any other difference is an error.
func Override(m *model.Model, params string) (*model.Model, error) {
	p, err := parseArchParams(params)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	out := *m
	out.Layers, out.MTP = slices.Clone(m.Layers), slices.Clone(m.MTP)
	if err := p.apply(&out); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	return &out, nil
}
