package modelfile

import (
	"strings"

	"github.com/ridgeline/ridgeline/internal/model"
)

// qwen35 mixes gated delta-rule layers with full attention whose output is
// gated; every full_attention_interval-th layer is full. MoE variants keep one
// gated shared expert.
func qwen35(f *fields, m *model.Model) {
	begin(f, m, false)
	full := qwen3Heads(f, m)
	full.OutGate = f.flag("attn_output_gate", true)
	linear := model.Attention{
		Kind:      model.Linear,
		Heads:     f.size("linear_num_value_heads"),
		VDim:      f.size("linear_value_head_dim"),
		KeyHeads:  f.size("linear_num_key_heads"),
		QKDim:     f.size("linear_key_head_dim"),
		ConvWidth: f.size("linear_conv_kernel_dim"),
	}
	fill(m, linear, qwen35FFN(f, m.Architecture))
	if dense := f.counts("mlp_only_layers"); len(dense) > 0 {
		f.fail("mlp_only_layers", "lists layers; a mix of dense and routed layers is not understood here")
	}

	if step := f.sizeOr(1, "decoder_sparse_step"); step != 1 {
		f.fail("decoder_sparse_step", "is %d; a mix of dense and routed layers is not understood here", step)
	}
	types, every := layerTypes(f, m, fullLayer, linearLayer), f.sizeOr(4, "full_attention_interval")
	for i := range m.Layers {
		isFull := (i+1)%int(every) == 0
		if types != nil {
			isFull = types[i] == fullLayer
		}
		if isFull {
			m.Layers[i].Attention = full
		}
	}
	f.must("mtp_use_dedicated_embeddings", false, "an embedding of the MTP module's own is not understood")
	addMTP(f, m, f.countOr(0, "mtp_num_hidden_layers"), "mtp_num_hidden_layers")
	for i := range m.MTP {
		m.MTP[i].Attention = full
	}
}

func qwen35FFN(f *fields, architecture string) model.FFN {
	if !strings.Contains(architecture, "Moe") && !f.has("num_experts") {
		return gated(f)
	}
	moe := f.experts("num_experts", "moe_intermediate_size", "num_experts_per_tok")
	moe.SharedInner, moe.SharedGate = f.size("shared_expert_intermediate_size"), true
	f.used["intermediate_size"] = true // stated by some files, used by no layer
	return moe
}
