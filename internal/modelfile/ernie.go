package modelfile

import "github.com/ridgeline/ridgeline/internal/model"

// ernie reads dense ERNIE 4.5: llama's shape with one switch for all biases.
func ernie(f *fields, m *model.Model) {
	begin(f, m, true)
	a, ffn := ernieParts(f, m)
	fill(m, a, ffn)
}

func ernieParts(f *fields, m *model.Model) (model.Attention, model.FFN) {
	a, ffn := statedHeads(f, m, "num_key_value_heads"), gated(f)
	ffn.Bias = f.flag("use_bias", false)
	a.QKVBias, a.OutBias = ffn.Bias, ffn.Bias
	return a, ffn
}

// ernieMoE has dense layers outside [moe_layer_start_index, moe_layer_end_index], shared experts and a
// selection bias (ERNIE 4.5 technical report, 2025).
func ernieMoE(f *fields, m *model.Model) {
	begin(f, m, true)
	a, dense := ernieParts(f, m)
	moe := f.experts("moe_num_experts", "moe_intermediate_size", "moe_k", "moe_topk")
	moe.SharedInner, moe.Bias = f.countOr(0, "moe_num_shared_experts")*moe.ExpertInner, dense.Bias
	moe.RouterBias = f.flag("moe_use_aux_free", true)
	n := len(m.Layers)
	first, last, step := f.upTo(n, 0, 0, "moe_layer_start_index"), lastLayer(f, n), f.upTo(n, 1, 1, "moe_layer_interval")
	for i := range m.Layers {
		m.Layers[i].Attention, m.Layers[i].FFN = a, dense
		if int64(i) >= first && int64(i) <= last && (int64(i)-first)%step == 0 {
			m.Layers[i].FFN = moe
		}
	}
	addMTP(f, m, f.countOr(0, "num_nextn_predict_layers"), "num_nextn_predict_layers")
	for _, key := range []string{"moe_capacity", "moe_gate", "moe_norm_min", "moe_norm_gate_logits", "moe_gate_act"} {
		f.used[key] = true // of training, and of scores
	}
}

// lastLayer is moe_layer_end_index, where -1 is the model's last.
func lastLayer(f *fields, layers int) int64 {
	if v := f.m["moe_layer_end_index"]; v == nil || show(v) == "-1" {
		f.used["moe_layer_end_index"] = true
		return int64(layers) - 1
	}
	return f.upTo(layers, 0, 0, "moe_layer_end_index")
}
