package modelfile

import (
	"slices"

	"github.com/ridgeline/ridgeline/internal/model"
)

// maxLayers bounds the layer list before it is made.
const maxLayers = model.MaxLayers

// begin reads what all architectures share and makes the layer list, two RMSNorms
// a layer. tied is transformers' default of tie_word_embeddings for the class.
func begin(f *fields, m *model.Model, tied bool) {
	m.Hidden = f.size("hidden_size")
	m.Vocab = f.size("vocab_size")
	m.MaxContext = f.countOr(0, "max_position_embeddings")
	m.Tied = f.flag("tie_word_embeddings", tied)
	makeLayers(f, m, "num_hidden_layers")
}

func makeLayers(f *fields, m *model.Model, keys ...string) {
	n := f.size(keys...)
	if n > maxLayers {
		f.fail(keys[0], "is %d; it must be at most %d", n, maxLayers)
		n = 1
	}
	m.Layers = make([]model.Layer, n)
	for i := range m.Layers {
		m.Layers[i].Norms = 2
	}
}

// heads reads grouped-query attention; without num_key_value_heads it is
// multi-head, without head_dim the heads divide the hidden size.
func heads(f *fields, m *model.Model) model.Attention {
	n := f.size("num_attention_heads")
	a := model.Attention{Heads: n, KVHeads: f.sizeOr(n, "num_key_value_heads")}
	if !f.has("head_dim") && m.Hidden%n != 0 {
		f.fail("head_dim", "is missing and hidden_size %d does not divide by %d heads; add it", m.Hidden, n)
	}
	a.QKDim = f.sizeOr(max(1, m.Hidden/n), "head_dim")
	a.VDim = a.QKDim
	if f.err == nil && n%a.KVHeads != 0 {
		f.fail("num_key_value_heads", "is %d, which does not divide num_attention_heads, %d", a.KVHeads, n)
	}
	return a
}

// statedHeads is heads of a class whose defaults in transformers are numbers of
// one of its models: a file that leaves keys out means those, not what heads takes.
func statedHeads(f *fields, m *model.Model, keys ...string) model.Attention {
	f.stated(keys...)
	return heads(f, m)
}

// biased reads the switch that puts biases on q, k, v and the output alike; def is transformers' default for the class.
func biased(f *fields, a *model.Attention, def bool) {
	a.QKVBias = f.flag("attention_bias", def)
	a.OutBias = a.QKVBias
}

// gated is a SwiGLU or GeGLU FFN of the configuration's intermediate size.
func gated(f *fields) model.FFN {
	return model.FFN{Inner: f.size("intermediate_size"), Gated: true}
}

// fill gives every layer the same attention and FFN.
func fill(m *model.Model, a model.Attention, ffn model.FFN) {
	for i := range m.Layers {
		m.Layers[i].Attention, m.Layers[i].FFN = a, ffn
	}
}

// The entries of layer_types that are understood.
const (
	fullLayer    = "full_attention"
	slidingLayer = "sliding_attention"
	chunkedLayer = "chunked_attention"
	linearLayer  = "linear_attention"
)

// layerTypes reads layer_types: one of the allowed names per layer, or nil when absent.
func layerTypes(f *fields, m *model.Model, allowed ...string) []string {
	types := f.texts("layer_types")
	if types == nil {
		return nil
	}
	if len(types) != len(m.Layers) {
		f.fail("layer_types", "has %d entries for %d layers; list every layer once", len(types), len(m.Layers))
		return nil
	}
	for i, t := range types {
		if !slices.Contains(allowed, t) {
			f.fail("layer_types", "calls layer %d %s, which is not understood; known here are %v", i, show(t), allowed)
			return nil
		}
	}
	return types
}

// slide sets the window of the layers that layer_types or, without it, local
// calls sliding.
func slide(f *fields, m *model.Model, window int64, local func(i int) bool) {
	types := layerTypes(f, m, fullLayer, slidingLayer)
	for i := range m.Layers {
		sliding := local(i)
		if types != nil {
			sliding = types[i] == slidingLayer
		}
		if !sliding {
			continue
		}
		if window == 0 {
			f.fail("sliding_window", "is missing though layer %d slides; add it", i)
			return
		}
		m.Layers[i].Attention.Window = window
	}
}

// withoutRoPE tells of each layer whether it has no rotary positions: where no_rope_layers (which holds 1 for a
// layer that rotates) or, without it, no_rope_layer_interval says so.
func withoutRoPE(f *fields, m *model.Model) []bool {
	still := make([]bool, len(m.Layers))
	every, rotates := int(f.sizeOr(4, "no_rope_layer_interval")), f.counts("no_rope_layers")
	if len(rotates) > 0 && len(rotates) != len(m.Layers) {
		f.fail("no_rope_layers", "has %d entries for %d layers; list every layer once", len(rotates), len(m.Layers))
		return still
	}
	for i := range still {
		still[i] = (i+1)%every == 0
		if len(rotates) > 0 {
			still[i] = rotates[i] == 0
		}
	}
	return still
}
