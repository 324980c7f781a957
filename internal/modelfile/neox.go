package modelfile

import "github.com/ridgeline/ridgeline/internal/model"

// gptNeoX has LayerNorm, biases throughout and rotary positions; its parallel parts have a norm each (arXiv:2204.06745).
func gptNeoX(f *fields, m *model.Model) {
	m.Norm = model.LayerNorm
	begin(f, m, false)
	f.used["use_parallel_residual"] = true // either way two norms
	a := gptHeads(f, m, f.size("num_attention_heads"), f.flag("attention_bias", true))
	fill(m, a, model.FFN{Inner: f.size("intermediate_size"), Bias: true})
}

// starcoder2 has LayerNorm, grouped keys and an ungated FFN, with biases (arXiv:2402.19173).
func starcoder2(f *fields, m *model.Model) {
	m.Norm = model.LayerNorm
	begin(f, m, true)
	a := statedHeads(f, m, "num_key_value_heads", "sliding_window")
	a.QKVBias = f.flag("use_bias", true)
	a.OutBias, a.Window = a.QKVBias, f.countOr(0, "sliding_window")
	for _, k := range [][2]string{{"mlp_type", "default"}, {"norm_type", "layer_norm"}} {
		if got := f.text(k[0], k[1]); got != k[1] {
			f.fail(k[0], "is %s, which is not understood; known is %s", show(got), k[1])
		}
	}
	f.used["residual_dropout"], f.used["embedding_dropout"] = true, true
	fill(m, a, model.FFN{Inner: f.size("intermediate_size"), Bias: a.QKVBias})
}

// cohere reads Command R and A: one norm, without bias, before both parts, which run side by side; the larger
// first one norms every query and key head with weights of its own. The second generation slides on three layers of four.
func cohere(f *fields, m *model.Model) {
	m.Norm = model.LayerNormNoBias
	begin(f, m, true)
	m.Tied = f.flag("use_embedding_sharing", m.Tied)
	f.must("use_parallel_block", true, "the block would be another")
	f.must("use_parallel_embedding", false, "the block would be another")
	f.must("use_gated_activation", true, "the block would be another")
	a := heads(f, m)
	biased(f, &a, false)
	if f.flag("use_qk_norm", false) {
		a.QKNorm = (a.Heads + a.KVHeads) * a.QKDim
	}
	for _, key := range []string{"layer_switch", "position_embedding_type", "order_of_interleaved_layers", "sliding_window_pattern", "_sliding_window_pattern"} {
		f.used[key] = true
	}
	fill(m, a, gated(f))
	for i := range m.Layers {
		m.Layers[i].Norms = 1
	}
	if m.Architecture == "Cohere2ForCausalLM" {
		every := int(f.sizeOr(4, "sliding_window_pattern", "_sliding_window_pattern", "layer_switch"))
		slide(f, m, f.countOr(4096, "sliding_window"), func(i int) bool { return (i+1)%every != 0 })
	}
}

// phiMoE is mixtral's shape with LayerNorm and biases on attention and head (arXiv:2404.14219).
func phiMoE(f *fields, m *model.Model) {
	m.Norm = model.LayerNorm
	mixtral(f, m)
	m.HeadBias = f.flag("lm_head_bias", false)
	bias := f.flag("attention_bias", false)
	for i := range m.Layers {
		m.Layers[i].Attention.QKVBias, m.Layers[i].Attention.OutBias = bias, bias
	}
	f.used["input_jitter_noise"] = true
}
