package modelfile

import "github.com/ridgeline/ridgeline/internal/model"

// llama is also the base of most later architectures: RMSNorm, rotary positions,
// SwiGLU. attention_bias puts biases on q, k, v and the output alike.
func llama(f *fields, m *model.Model) {
	begin(f, m, false)
	a, ffn := heads(f, m), gated(f)
	biased(f, &a, false)
	ffn.Bias = f.flag("mlp_bias", false)
	fill(m, a, ffn)
}

// mistral slides on every layer when sliding_window is set (arXiv:2310.06825).
func mistral(f *fields, m *model.Model) {
	begin(f, m, false)
	a := statedHeads(f, m, "num_key_value_heads", "sliding_window")
	a.Window = f.countOr(0, "sliding_window")
	fill(m, a, gated(f))
}

// qwen2 has biases on q, k and v only (arXiv:2412.15115).
func qwen2(f *fields, m *model.Model) {
	begin(f, m, false)
	a := statedHeads(f, m, "num_key_value_heads")
	a.QKVBias = true
	fill(m, a, gated(f))
	qwenWindow(f, m)
}

// qwen3 drops the biases and norms each query and key head (arXiv:2505.09388).
func qwen3(f *fields, m *model.Model) {
	begin(f, m, false)
	fill(m, qwen3Heads(f, m), gated(f))
	qwenWindow(f, m)
}

func qwen3Heads(f *fields, m *model.Model) model.Attention {
	a := statedHeads(f, m, "num_key_value_heads", "head_dim")
	biased(f, &a, false)
	a.QKNorm = 2 * a.QKDim
	return a
}

// qwenWindow: with use_sliding_window the layers from max_window_layers on slide.
func qwenWindow(f *fields, m *model.Model) {
	window, from := f.countOr(0, "sliding_window"), f.countOr(int64(len(m.Layers)), "max_window_layers")
	if !f.flag("use_sliding_window", false) {
		from = int64(len(m.Layers))
	}
	slide(f, m, window, func(i int) bool { return int64(i) >= from })
}

// phi3 is llama's shape with q, k, v and gate, up stored fused; the count is the same.
func phi3(f *fields, m *model.Model) {
	begin(f, m, false)
	a := heads(f, m)
	a.Window = f.countOr(0, "sliding_window")
	biased(f, &a, false)
	fill(m, a, gated(f))
}

// nemotron has LayerNorm with weight and bias and an ungated squared-ReLU FFN
// (arXiv:2402.16819).
func nemotron(f *fields, m *model.Model) {
	begin(f, m, false)
	m.Norm = model.LayerNorm
	a := heads(f, m)
	biased(f, &a, false)
	fill(m, a, model.FFN{Inner: f.size("intermediate_size"), Bias: f.flag("mlp_bias", false)})
}

// gemma2 has norms before and after both parts of a block and slides on every
// other layer, the first included (arXiv:2408.00118).
func gemma2(f *fields, m *model.Model) {
	gemma(f, m)
	sandwich(m)
	slide(f, m, f.countOr(4096, "sliding_window"), func(i int) bool { return i%2 == 0 })
}

// gemma3 slides on five layers of six and norms query and key heads
// (arXiv:2503.19786). Published files leave out what equals the
// class's defaults in transformers, so those defaults stand here.
func gemma3(f *fields, m *model.Model) {
	m.Hidden = f.sizeOr(2304, "hidden_size")
	m.Vocab = f.sizeOr(262208, "vocab_size")
	m.MaxContext = f.countOr(131072, "max_position_embeddings")
	m.Tied = f.flag("tie_word_embeddings", true)
	makeLayers(f, m, "num_hidden_layers")
	a := model.Attention{Heads: f.sizeOr(8, "num_attention_heads"), KVHeads: f.sizeOr(4, "num_key_value_heads"), QKDim: f.sizeOr(256, "head_dim")}
	a.VDim, a.QKNorm = a.QKDim, 2*a.QKDim
	biased(f, &a, false)
	fill(m, a, gated(f))
	sandwich(m)
	every := int(f.sizeOr(6, "sliding_window_pattern", "_sliding_window_pattern"))
	slide(f, m, f.countOr(4096, "sliding_window"), func(i int) bool { return (i+1)%every != 0 })
}

func sandwich(m *model.Model) {
	for i := range m.Layers {
		m.Layers[i].Norms = 4
	}
}
