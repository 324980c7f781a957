package modelfile

import "github.com/ridgeline/ridgeline/internal/model"

// deepseek reads DeepSeek-V2, V3 and V3.2, Kimi-K2 and GLM-5: multi-head latent
// attention (arXiv:2405.04434 section 2.1), leading dense layers, shared experts,
// node-limited routing and MTP modules (arXiv:2412.19437 section 2).
func deepseek(f *fields, m *model.Model) {
	begin(f, m, false)
	f.must("attention_bias", false, "biases in latent attention are not understood")
	f.stated("first_k_dense_replace", "n_shared_experts", "q_lora_rank", "n_group", "topk_group")
	fill(m, latent(f, m), deepseekMoE(f, m))
	first, step := f.upTo(len(m.Layers), 0, 0, "first_k_dense_replace"), f.upTo(len(m.Layers), 1, 1, "moe_layer_freq")
	inner := f.size("intermediate_size")
	for i := range m.Layers {
		if int64(i) < first || int64(i)%step != 0 {
			m.Layers[i].FFN = model.FFN{Inner: inner, Gated: true}
		}
	}
	addMTP(f, m, f.countOr(0, "num_nextn_predict_layers"), "num_nextn_predict_layers")
	m.MTPOwnHead = len(m.MTP) > 0
}

func latent(f *fields, m *model.Model) model.Attention {
	a := model.Attention{
		Kind:   model.MLA,
		Heads:  f.size("num_attention_heads"),
		QRank:  f.countOr(0, "q_lora_rank"),
		KVRank: f.size("kv_lora_rank"),
		Rope:   f.size("qk_rope_head_dim"),
		VDim:   f.size("v_head_dim"),
	}
	a.QKDim = f.size("qk_nope_head_dim") + a.Rope
	f.used["qk_head_dim"], f.used["head_dim"] = true, true // derived, or unused by latent attention
	if kv := f.sizeOr(a.Heads, "num_key_value_heads"); kv != a.Heads {
		f.fail("num_key_value_heads", "is %d; latent attention has as many as num_attention_heads, %d", kv, a.Heads)
	}
	if f.has("index_n_heads") || f.has("index_topk") || f.has("index_head_dim") {
		a.Indexer = &model.Indexer{Heads: f.size("index_n_heads"), Dim: f.size("index_head_dim"), TopK: f.size("index_topk"), BlockSize: 1}
	}
	return a
}

func deepseekMoE(f *fields, m *model.Model) model.FFN {
	moe := f.experts("n_routed_experts", "moe_intermediate_size", "num_experts_per_tok")
	moe.SharedInner = f.countOr(0, "n_shared_experts") * moe.ExpertInner
	def := "noaux_tc"
	if m.Architecture == "DeepseekV2ForCausalLM" {
		def = "greedy"
	}
	limited := true
	switch method := f.text("topk_method", def); method {
	case "noaux_tc": // aux-loss-free balancing keeps one selection bias per expert
		moe.RouterBias = true
	case "group_limited_greedy":
	case "greedy":
		limited = false
	default:
		f.fail("topk_method", "is %s, which is not understood; known are noaux_tc group_limited_greedy greedy", show(method))
	}
	expertGroups(f, &moe)
	if !limited {
		moe.Groups, moe.TopGroups = 0, 0
	}
	return moe
}

// expertGroups reads node-limited routing; a single group is none.
func expertGroups(f *fields, moe *model.FFN) {
	groups, top := f.countOr(1, "n_group"), f.countOr(1, "topk_group")
	if groups > 1 {
		moe.Groups, moe.TopGroups = groups, top
	}
}
