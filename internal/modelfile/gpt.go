package modelfile

import "github.com/ridgeline/ridgeline/internal/model"

// gptHeads is multi-head attention with or without biases.
func gptHeads(f *fields, m *model.Model, heads int64, bias bool) model.Attention {
	if m.Hidden%heads != 0 {
		f.fail("hidden_size", "%d does not divide by %d heads", m.Hidden, heads)
	}
	d := max(1, m.Hidden/heads)
	return model.Attention{Heads: heads, KVHeads: heads, QKDim: d, VDim: d, QKVBias: bias, OutBias: bias}
}

// gpt2 has learned positions, LayerNorm and biases throughout.
func gpt2(f *fields, m *model.Model) {
	m.Norm = model.LayerNorm
	m.Hidden, m.Vocab = f.size("n_embd"), f.size("vocab_size")
	m.Positions = f.size("n_positions", "n_ctx")
	m.MaxContext = m.Positions
	m.Tied = f.flag("tie_word_embeddings", true)
	makeLayers(f, m, "n_layer")
	fill(m, gptHeads(f, m, f.size("n_head"), true), model.FFN{Inner: f.sizeOr(4*m.Hidden, "n_inner"), Bias: true})
}

// bloom has ALiBi instead of positions and a norm after the embedding (arXiv:2211.05100).
func bloom(f *fields, m *model.Model) {
	m.Norm, m.EmbedNorm = model.LayerNorm, true
	m.Hidden, m.Vocab = f.size("hidden_size", "n_embed"), f.size("vocab_size")
	m.MaxContext = f.countOr(0, "seq_length")
	m.Tied = f.flag("tie_word_embeddings", true)
	makeLayers(f, m, "n_layer", "num_hidden_layers")
	fill(m, gptHeads(f, m, f.size("n_head", "num_attention_heads"), true), model.FFN{Inner: 4 * m.Hidden, Bias: true})
	f.used["n_inner"] = true // ignored by the implementation, which always takes 4 x hidden
}

// opt has learned positions, two rows more than its context (arXiv:2205.01068;
// the offset is transformers').
func opt(f *fields, m *model.Model) {
	m.Norm = model.LayerNorm
	begin(f, m, true)
	m.MaxContext = f.size("max_position_embeddings")
	m.Positions = m.MaxContext + 2
	f.must("do_layer_norm_before", true, "post-norm blocks have no final norm")
	f.must("_remove_final_layer_norm", false, "the final norm is counted")
	f.must("layer_norm_elementwise_affine", true, "norms without weights are not understood")
	if e := f.sizeOr(m.Hidden, "word_embed_proj_dim"); e != m.Hidden {
		f.fail("word_embed_proj_dim", "is %d; an embedding of another width than hidden_size %d is not supported", e, m.Hidden)
	}
	bias := f.flag("enable_bias", true)
	fill(m, gptHeads(f, m, f.size("num_attention_heads"), bias), model.FFN{Inner: f.size("ffn_dim"), Bias: bias})
}

// mpt reads llm-foundry's configuration: ALiBi or learned positions, biases
// everywhere or nowhere, norm biases with them.
func mpt(f *fields, m *model.Model) {
	m.Hidden, m.Vocab = f.size("d_model"), f.size("vocab_size")
	m.MaxContext = f.size("max_seq_len")
	m.Tied = f.flag("tie_word_embeddings", true)
	makeLayers(f, m, "n_layers")
	bias := !f.flag("no_bias", false)
	switch kind := f.text("norm_type", "low_precision_layernorm"); {
	case kind != "low_precision_layernorm" && kind != "layernorm":
		f.fail("norm_type", "is %s, which is not understood; known are layernorm low_precision_layernorm", show(kind))
	case bias:
		m.Norm = model.LayerNorm
	default:
		m.Norm = model.LayerNormNoBias
	}
	a := gptHeads(f, m, f.size("n_heads"), bias)
	if f.flag("learned_pos_emb", true) && !mptAttention(f, &a) {
		m.Positions = m.MaxContext
	}
	fill(m, a, model.FFN{Inner: f.sizeOr(4, "expansion_ratio") * m.Hidden, Bias: bias})
}

// mptAttention reads attn_config and tells whether ALiBi or rotary angles replace positions.
func mptAttention(f *fields, a *model.Attention) (replaced bool) {
	f.stated("attn_config")
	c := f.object("attn_config")
	if c == nil {
		return false
	}
	c.stated("alibi") // absent in two libraries, it means two things
	switch kind := c.text("attn_type", "multihead_attention"); kind {
	case "multihead_attention":
	case "multiquery_attention":
		a.KVHeads = 1
	case "grouped_query_attention":
		a.KVHeads = c.size("kv_n_heads")
	default:
		c.fail("attn_type", "is %s, which is not understood", show(kind))
	}
	c.must("qk_ln", false, "query and key norms of MPT are not understood")
	c.must("qk_gn", false, "query and key norms of MPT are not understood")
	c.must("prefix_lm", false, "only causal models are described")
	if w := c.m["sliding_window_size"]; w != nil && show(w) != "-1" {
		a.Window = c.sizeOr(1, "sliding_window_size")
	}
	for _, key := range []string{"sliding_window_size", "kv_n_heads", "attn_impl", "attn_pdrop", "alibi_bias_max", "softmax_scale", "clip_qkv", "attn_uses_sequence_id"} {
		c.used[key] = true
	}
	replaced = c.flag("alibi", false) || c.flag("rope", false)
	c.used["rope"] = true
	if _, err := c.finish(); f.err == nil {
		f.err = err
	}
	return replaced
}

// falcon: the new decoder has grouped keys and two norms before parallel parts,
// the older one a single key head (arXiv:2311.16867).
func falcon(f *fields, m *model.Model) {
	m.Norm = model.LayerNorm
	m.Hidden, m.Vocab = f.size("hidden_size"), f.size("vocab_size")
	m.MaxContext = f.countOr(0, "max_position_embeddings")
	m.Tied = f.flag("tie_word_embeddings", true)
	makeLayers(f, m, "num_hidden_layers", "n_layer")
	bias := f.flag("bias", false)
	a := gptHeads(f, m, f.size("num_attention_heads", "n_head"), bias)
	norms := int64(2)
	if f.flag("new_decoder_architecture", false) {
		a.KVHeads = f.sizeOr(a.Heads, "num_kv_heads", "n_head_kv")
		norms = f.sizeOr(2, "num_ln_in_parallel_attn")
	} else {
		if f.flag("multi_query", true) {
			a.KVHeads = 1
		}
		if f.flag("parallel_attn", true) {
			norms = 1
		}
	}
	for _, key := range []string{"multi_query", "parallel_attn", "alibi", "num_kv_heads", "n_head_kv"} {
		f.used[key] = true
	}
	fill(m, a, model.FFN{Inner: f.sizeOr(4*m.Hidden, "ffn_hidden_size"), Bias: bias})
	for i := range m.Layers {
		m.Layers[i].Norms = norms
	}
}
