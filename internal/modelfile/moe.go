package modelfile

import (
	"slices"

	"github.com/ridgeline/ridgeline/internal/model"
)

// mixtral routes in every layer (arXiv:2401.04088).
func mixtral(f *fields, m *model.Model) {
	begin(f, m, false)
	a := statedHeads(f, m, "num_key_value_heads")
	a.Window = f.countOr(0, "sliding_window")
	fill(m, a, f.experts("num_local_experts", "intermediate_size", "num_experts_per_tok"))
}

// qwenMoE reads Qwen2-MoE and Qwen3-MoE. Layers in mlp_only_layers and off the
// decoder_sparse_step are dense; only Qwen2 has a shared expert, with a gate.
func qwenMoE(f *fields, m *model.Model) {
	begin(f, m, false)
	var a model.Attention
	moe := f.experts("num_experts", "moe_intermediate_size", "num_experts_per_tok")
	if f.text("model_type", "") == "qwen2_moe" || m.Architecture == "Qwen2MoeForCausalLM" {
		a = statedHeads(f, m, "num_key_value_heads")
		a.QKVBias = f.flag("qkv_bias", true)
		moe.SharedInner, moe.SharedGate = f.size("shared_expert_intermediate_size"), true
	} else {
		a = qwen3Heads(f, m)
	}
	fill(m, a, moe)
	qwenWindow(f, m)

	step, dense := f.upTo(len(m.Layers), 1, 1, "decoder_sparse_step"), f.counts("mlp_only_layers")
	inner := f.countOr(0, "intermediate_size") // stated even where no layer uses it
	for i := range m.Layers {
		if slices.Contains(dense, int64(i)) || (i+1)%int(step) != 0 {
			m.Layers[i].FFN = model.FFN{Inner: inner, Gated: true}
		}
	}
}

// gptOSS alternates sliding and full layers, has biases everywhere and one
// learned sink logit per head (arXiv:2508.10925).
func gptOSS(f *fields, m *model.Model) {
	begin(f, m, false)
	a := statedHeads(f, m, "num_key_value_heads", "head_dim")
	biased(f, &a, true)
	a.Sinks = a.Heads
	moe := f.experts("num_local_experts", "intermediate_size", "num_experts_per_tok", "experts_per_token")
	moe.Bias, moe.RouterBias = true, true
	fill(m, a, moe)
	slide(f, m, f.size("sliding_window"), func(i int) bool { return i%2 == 0 })
}

// minimaxM2 norms queries and keys over all heads at once (qk_norm_type
// per_layer) and selects experts with a bias.
func minimaxM2(f *fields, m *model.Model) {
	begin(f, m, false)
	a := statedHeads(f, m, "num_key_value_heads", "head_dim", "use_qk_norm", "use_routing_bias")
	if f.flag("use_qk_norm", false) {
		switch kind := f.text("qk_norm_type", ""); kind {
		case "per_layer":
			a.QKNorm = (a.Heads + a.KVHeads) * a.QKDim
		default:
			f.fail("qk_norm_type", "is %s, which is not understood; known is per_layer", show(kind))
		}
	}
	moe := f.experts("num_local_experts", "intermediate_size", "num_experts_per_tok")
	moe.RouterBias = f.flag("use_routing_bias", false)
	moe.SharedInner = f.countOr(0, "shared_intermediate_size")
	allOnes(f, "attn_type_list", "layers other than full attention")
	fill(m, a, moe)

	modules, deep := f.countOr(0, "num_mtp_modules"), f.countOr(1, "mtp_transformer_layers")
	if f.flag("use_mtp", false) && modules > 0 {
		if deep != 1 {
			f.fail("mtp_transformer_layers", "is %d; only modules of one layer are supported", deep)
		}
		addMTP(f, m, modules, "num_mtp_modules")
	}
}

// allOnes requires every entry of a list to be 1, where the list is present.
func allOnes(f *fields, key, why string) {
	for _, n := range f.counts(key) {
		if n != 1 {
			f.fail(key, "holds %d: %s are not supported", n, why)
		}
	}
}

// addMTP adds n modules that repeat the last layer.
func addMTP(f *fields, m *model.Model, n int64, key string) {
	if n > maxLayers {
		f.fail(key, "is %d; it must be at most %d", n, maxLayers)
		return
	}
	for range n {
		m.MTP = append(m.MTP, m.Layers[len(m.Layers)-1])
	}
}

// glm4MoE has biases on q, k and v only, leading dense layers, sigmoid routing
// with a selection bias (arXiv:2508.06471).
func glm4MoE(f *fields, m *model.Model) {
	begin(f, m, false)
	a := statedHeads(f, m, "num_key_value_heads", "head_dim", "n_shared_experts", "first_k_dense_replace")
	a.QKVBias = f.flag("attention_bias", false)
	if f.flag("use_qk_norm", false) {
		a.QKNorm = 2 * a.QKDim
	}
	moe := f.experts("n_routed_experts", "moe_intermediate_size", "num_experts_per_tok")
	moe.SharedInner = f.countOr(0, "n_shared_experts") * moe.ExpertInner
	moe.RouterBias = true
	expertGroups(f, &moe)
	fill(m, a, moe)
	for i := range f.upTo(len(m.Layers), 0, 0, "first_k_dense_replace") {
		m.Layers[i].FFN = gated(f)
	}
	f.used["intermediate_size"] = true
	addMTP(f, m, f.countOr(0, "num_nextn_predict_layers"), "num_nextn_predict_layers")
	m.MTPOwnHead = len(m.MTP) > 0
}

// llama4: every interleave_moe_layer_step-th layer routes, beside a shared expert
// of the same width; the others are dense and wider. Three layers of four attend
// within chunks and rotate; the fourth sees everything without positions.
func llama4(f *fields, m *model.Model) {
	begin(f, m, false)
	a := statedHeads(f, m, "num_key_value_heads", "head_dim", "attention_chunk_size")
	biased(f, &a, false)
	f.flag("use_qk_norm", true) // a norm without weights
	moe := f.experts("num_local_experts", "intermediate_size", "num_experts_per_tok")
	moe.SharedInner = moe.ExpertInner
	dense := model.FFN{Inner: f.size("intermediate_size_mlp"), Gated: true}
	step, chunk := f.upTo(len(m.Layers), 1, 1, "interleave_moe_layer_step"), f.countOr(0, "attention_chunk_size")
	still, types, sparse := withoutRoPE(f, m), layerTypes(f, m, fullLayer, chunkedLayer), f.counts("moe_layers")
	for i := range m.Layers {
		l := &m.Layers[i]
		l.Attention, l.FFN = a, dense
		if f.has("moe_layers") && slices.Contains(sparse, int64(i)) || !f.has("moe_layers") && (i+1)%int(step) == 0 {
			l.FFN = moe
		}
		l.Attention.NoRoPE = still[i]
		if types == nil && !l.Attention.NoRoPE || types != nil && types[i] == chunkedLayer {
			l.Attention.Chunk = chunk
		}
	}
}
