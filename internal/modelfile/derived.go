package modelfile

import "github.com/ridgeline/ridgeline/internal/model"

// Architectures that are llama's but for a few parts. What is cited is where that part is described; the
// implementations in transformers were followed where papers are silent.

// gemma has GeGLU, heads wider than the hidden size over them and tied embeddings (arXiv:2403.08295).
func gemma(f *fields, m *model.Model) {
	begin(f, m, true)
	a := statedHeads(f, m, "num_key_value_heads", "head_dim")
	biased(f, &a, false)
	fill(m, a, gated(f))
}

// granite scales embedding, residuals, scores and logits by constants.
func granite(f *fields, m *model.Model) {
	scaled(f)
	llama(f, m)
}

// graniteMoE routes in every layer, without a shared expert.
func graniteMoE(f *fields, m *model.Model) {
	scaled(f)
	begin(f, m, false)
	a := heads(f, m)
	biased(f, &a, false)
	fill(m, a, f.experts("num_local_experts", "intermediate_size", "num_experts_per_tok"))
}

func scaled(f *fields) {
	for _, key := range []string{"embedding_multiplier", "attention_multiplier", "residual_multiplier", "logits_scaling"} {
		f.used[key] = true
	}
}

// smolLM3 leaves rotary positions out of every fourth layer.
func smolLM3(f *fields, m *model.Model) {
	begin(f, m, true)
	a := statedHeads(f, m, "num_key_value_heads")
	biased(f, &a, false)
	ffn := gated(f)
	ffn.Bias = f.flag("mlp_bias", false)
	fill(m, a, ffn)
	for i, still := range withoutRoPE(f, m) {
		m.Layers[i].Attention.NoRoPE = still
	}
	qwenWindow(f, m)
}

// seedOSS has biases on q, k and v, and perhaps on the output and the FFN.
func seedOSS(f *fields, m *model.Model) {
	begin(f, m, false)
	a := statedHeads(f, m, "num_key_value_heads", "head_dim")
	a.QKVBias, a.OutBias = f.flag("attention_bias", true), f.flag("attention_out_bias", false)
	ffn := gated(f)
	ffn.Bias = f.flag("mlp_bias", false)
	f.used["residual_dropout"] = true
	fill(m, a, ffn)
}

// glm4 has norms before and after both parts of a block; q, k and v may have biases.
func glm4(f *fields, m *model.Model) {
	begin(f, m, false)
	a := statedHeads(f, m, "num_key_value_heads", "head_dim")
	a.QKVBias = f.flag("attention_bias", false)
	fill(m, a, gated(f))
	sandwich(m)
}

// olmo reads OLMo 2 and 3: norms after the parts instead of before, and over all query and all key
// heads at once (arXiv:2501.00656); OLMo 3 slides on three layers of four.
func olmo(f *fields, m *model.Model) {
	begin(f, m, false)
	a := olmoHeads(f, m)
	fill(m, a, gated(f))
	if f.has("sliding_window") || f.has("layer_types") {
		slide(f, m, f.countOr(0, "sliding_window"), func(i int) bool { return (i+1)%4 != 0 })
	}
}

func olmoHeads(f *fields, m *model.Model) model.Attention {
	a := heads(f, m)
	biased(f, &a, false)
	a.QKNorm = (a.Heads + a.KVHeads) * a.QKDim
	return a
}

// olmoe routes in every layer and norms as OLMo 2 does (arXiv:2409.02060).
func olmoe(f *fields, m *model.Model) {
	begin(f, m, false)
	a := olmoHeads(f, m)
	f.used["clip_qkv"] = true // of values
	fill(m, a, f.experts("num_experts", "intermediate_size", "num_experts_per_tok"))
}
