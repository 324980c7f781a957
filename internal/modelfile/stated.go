package modelfile

import "github.com/ridgeline/ridgeline/internal/model"

// mostBy has the bounds of model.Check by the fields that configurations give
// the sizes in, so that an error names the field.
var mostBy = func() map[string]int64 {
	by := map[string]int64{}
	for _, b := range []struct {
		most int64
		keys []string
	}{
		{model.MaxHidden, []string{"hidden_size", "n_embd", "n_embed", "d_model", "q_lora_rank", "kv_lora_rank"}},
		{model.MaxVocab, []string{"vocab_size", "n_positions", "n_ctx"}},
		{model.MaxLayers, []string{"num_hidden_layers", "n_layer", "n_layers"}},
		{model.MaxHeads, []string{"num_attention_heads", "num_key_value_heads", "n_head", "n_heads", "num_kv_heads", "n_head_kv", "kv_n_heads",
			"linear_num_key_heads", "linear_num_value_heads", "index_n_heads"}},
		{model.MaxHeadDim, []string{"head_dim", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "linear_key_head_dim", "linear_value_head_dim", "index_head_dim"}},
		{model.MaxInner, []string{"intermediate_size", "intermediate_size_mlp", "moe_intermediate_size", "shared_expert_intermediate_size",
			"shared_intermediate_size", "ffn_dim", "ffn_hidden_size", "n_inner"}},
		{model.MaxExperts, []string{"num_experts", "num_local_experts", "n_routed_experts", "num_experts_per_tok", "experts_per_token", "n_shared_experts",
			"moe_num_experts", "moe_num_shared_experts", "moe_k", "moe_topk"}},
	} {
		for _, k := range b.keys {
			by[k] = b.most
		}
	}
	return by
}()

// mostOf is the largest value of a count.
func mostOf(key string) int64 {
	if most, ok := mostBy[key]; ok {
		return most
	}
	return maxCount
}

// stated requires keys to be in the file, for which the class in transformers
// has a default that is the number of one of its models. null counts as stated:
// there it says that the model has none.
func (f *fields) stated(keys ...string) {
	for _, k := range keys {
		if _, ok := f.m[k]; !ok {
			f.fail(k, "is missing; add it, since libraries fill it in with another model's number")
		}
	}
}

// upTo reads a count of layers, from least to all of them, or def when absent.
func (f *fields) upTo(layers int, def, least int64, key string) int64 {
	n := f.count(key, def, least)
	if n > int64(layers) {
		f.fail(key, "is %d; the model has %d layers", n, layers)
		return least
	}
	return n
}

// experts reads a MoE of gated experts from the fields of their number, of those
// that a token visits, and of their width.
func (f *fields) experts(number, inner string, visited ...string) model.FFN {
	e := model.FFN{Gated: true, Experts: f.size(number), TopK: f.size(visited...), ExpertInner: f.size(inner)}
	if f.err == nil && e.TopK > e.Experts {
		f.fail(f.first(visited...), "is %d; %s is %d", e.TopK, number, e.Experts)
	}
	return e
}
