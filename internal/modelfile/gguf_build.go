package modelfile

import (
	"fmt"

	parser "github.com/gpustack/gguf-parser-go"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// ggufArchitectures are those of llama.cpp's names that build understands.
var ggufArchitectures = []string{"llama", "qwen2", "qwen2moe", "qwen3", "qwen3moe", "deepseek2", "gpt-oss", "gemma2", "gemma3"}

// key is a metadata key of the architecture.
func (g *ggufFile) key(name string) string { return g.arch + "." + name }

// build fills the model from metadata and the tensors that exist.
func (g *ggufFile) build(m *model.Model) {
	m.Hidden = g.size(g.key("embedding_length"))
	m.MaxContext = g.countOr(0, g.key("context_length"))
	if t, ok := g.tensors["token_embd.weight"]; !ok || len(t.dims) != 2 {
		g.fail("token_embd.weight", "is not a matrix of the file; the vocabulary's size is its second dimension")
	} else {
		m.Vocab = int64(t.dims[1])
	}
	if v := g.countOr(m.Vocab, g.key("vocab_size")); v != m.Vocab {
		g.fail(g.key("vocab_size"), "is %d but the embedding has %d rows; the file is damaged", v, m.Vocab)
	}
	_, head := g.tensors["output.weight"]
	m.Tied, m.HeadBias = !head, g.elements("output.bias") > 0
	if g.elements("output_norm.bias") > 0 {
		m.Norm = model.LayerNorm
	}
	makeLayers(g.fields, m, g.key("block_count"))
	for i := range m.Layers {
		if g.err != nil {
			return
		}
		l := &m.Layers[i]
		l.Norms = g.norms(i)
		l.Attention = g.attention(m, i)
		l.FFN = g.ffn(i)
	}
}

func (g *ggufFile) elements(name string) int64 { return g.tensors[name].elements }

// block is the elements of the first of the layer's tensors that exists.
func (g *ggufFile) block(i int, names ...string) int64 {
	for _, name := range names {
		if n := g.elements(fmt.Sprintf("blk.%d.%s", i, name)); n > 0 {
			return n
		}
	}
	return 0
}

func (g *ggufFile) norms(i int) int64 {
	var n int64
	for _, name := range []string{"attn_norm", "ffn_norm", "post_attention_norm", "post_ffw_norm"} {
		if g.block(i, name+".weight") > 0 {
			n++
		}
	}
	return n
}

func (g *ggufFile) attention(m *model.Model, i int) model.Attention {
	if g.arch == "deepseek2" {
		return g.latent()
	}
	a := model.Attention{
		Heads:   g.size(g.key("attention.head_count")),
		QKVBias: g.block(i, "attn_q.bias") > 0,
		OutBias: g.block(i, "attn_output.bias") > 0,
		QKNorm:  g.block(i, "attn_q_norm.weight") + g.block(i, "attn_k_norm.weight"),
		Sinks:   g.block(i, "attn_sinks.weight"),
	}
	a.KVHeads = g.sizeOr(a.Heads, g.key("attention.head_count_kv"))
	a.QKDim = g.sizeOr(max(1, m.Hidden/a.Heads), g.key("attention.key_length"))
	a.VDim = g.sizeOr(a.QKDim, g.key("attention.value_length"))
	window := g.countOr(0, g.key("attention.sliding_window"))
	if g.slides(i) {
		a.Window = window
	}
	return a
}

// slides says which layers the window is for: every other one in gpt-oss and
// Gemma 2, five of six in Gemma 3, all in llama files (Mistral 7B).
func (g *ggufFile) slides(i int) bool {
	switch g.arch {
	case "gpt-oss", "gemma2":
		return i%2 == 0
	case "gemma3":
		return (i+1)%int(g.sizeOr(6, g.key("attention.sliding_window_pattern"))) != 0
	}
	return true
}

func (g *ggufFile) latent() model.Attention {
	a := model.Attention{
		Kind:   model.MLA,
		Heads:  g.size(g.key("attention.head_count")),
		QRank:  g.countOr(0, g.key("attention.q_lora_rank")),
		KVRank: g.size(g.key("attention.kv_lora_rank")),
		Rope:   g.size(g.key("rope.dimension_count")),
	}
	// Files that store the absorbed form keep its lengths under the plain names.
	a.QKDim = g.size(g.key("attention.key_length_mla"), g.key("attention.key_length"))
	a.VDim = g.size(g.key("attention.value_length_mla"), g.key("attention.value_length"))
	return a
}

func (g *ggufFile) ffn(i int) model.FFN {
	if g.block(i, "ffn_gate_inp.weight") == 0 {
		return model.FFN{
			Inner: g.size(g.key("feed_forward_length")),
			Gated: g.block(i, "ffn_gate.weight") > 0,
			Bias:  g.block(i, "ffn_up.bias") > 0,
		}
	}
	f := model.FFN{
		Experts:    g.size(g.key("expert_count")),
		TopK:       g.size(g.key("expert_used_count")),
		Gated:      g.block(i, "ffn_gate_exps.weight") > 0,
		Bias:       g.block(i, "ffn_up_exps.bias") > 0,
		RouterBias: g.block(i, "ffn_gate_inp.bias", "exp_probs_b.bias") > 0,
		SharedGate: g.block(i, "ffn_gate_inp_shexp.weight") > 0,
	}
	f.ExpertInner = g.size(g.key("expert_feed_forward_length"), g.key("feed_forward_length"))
	if g.block(i, "ffn_up_shexp.weight") > 0 {
		shared := g.sizeOr(1, g.key("expert_shared_count"))
		f.SharedInner = g.sizeOr(shared*f.ExpertInner, g.key("expert_shared_feed_forward_length"))
	}
	if groups := g.countOr(1, g.key("expert_group_count")); groups > 1 {
		f.Groups, f.TopGroups = groups, g.size(g.key("expert_group_used_count"))
	}
	return f
}

// ggufFormats maps tensor types to the format of the same width. Blocks of 5 and
// 6 bits have no format of their own.
var ggufFormats = map[parser.GGMLType]unit.Format{
	parser.GGMLTypeF32: unit.FP32, parser.GGMLTypeF16: unit.FP16, parser.GGMLTypeBF16: unit.BF16,
	parser.GGMLTypeQ8_0: unit.Q8_0, parser.GGMLTypeQ8_1: unit.Q8_0, parser.GGMLTypeQ8_K: unit.INT8,
	parser.GGMLTypeQ4_0: unit.Q4_0, parser.GGMLTypeQ4_1: unit.Q4_0, parser.GGMLTypeQ4_K: unit.Q4_0,
	parser.GGMLTypeIQ4_NL: unit.Q4_0, parser.GGMLTypeIQ4_XS: unit.INT4,
	parser.GGMLTypeMXFP4: unit.MXFP4, parser.GGMLTypeNVFP4: unit.NVFP4,
}

// checkpoint takes the type that holds most parameters, of the experts and of
// the other matrices in the layers.
func (g *ggufFile) checkpoint(m *model.Model) {
	var dense, experts = map[parser.GGMLType]int64{}, map[parser.GGMLType]int64{}
	for name, t := range g.tensors {
		switch {
		case len(t.dims) < 2 || !blockTensor.MatchString(name):
		case m.MaxExperts() > 0 && len(t.dims) == 3 && t.dims[2] == uint64(m.MaxExperts()):
			experts[t.kind] += t.elements
		default:
			dense[t.kind] += t.elements
		}
	}
	for name, to := range map[string]*unit.Format{"output.weight": &m.Checkpoint.Head, "token_embd.weight": &m.Checkpoint.Head, "blk.0.attn_k_b.weight": &m.Checkpoint.Absorbed} {
		if t, ok := g.tensors[name]; ok && (name != "token_embd.weight" || m.Tied) {
			*to = ggufFormats[t.kind] // types without a format of their own keep 16 bit
		}
	}
	m.Checkpoint.Weights = format(m, "weights", dense)
	m.Checkpoint.Experts = m.Checkpoint.Weights
	if len(experts) > 0 {
		m.Checkpoint.Experts = format(m, "experts", experts)
	}
}

// format is the format of the commonest type; a type of its own width counts as
// 8 bit, and the model says so.
func format(m *model.Model, what string, by map[parser.GGMLType]int64) unit.Format {
	var most parser.GGMLType
	for kind, n := range by {
		if n > by[most] || n == by[most] && kind < most {
			most = kind
		}
	}
	f, ok := ggufFormats[most]
	if !ok {
		m.Unsupported = append(m.Unsupported, fmt.Sprintf("%s of type %v count as int8", what, most))
		return unit.INT8
	}
	return f
}
