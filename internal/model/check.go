package model

import "fmt"

// The largest sizes accepted. Each is at least eight times what any published
// model uses; together they keep every product of one layer inside int64
// (experts x inner x hidden x 3 < 2^62). maxParams bounds the sum. Readers hold
// their fields against them, so that an error can name the field.
const (
	MaxHidden  = 1 << 20
	MaxVocab   = 1 << 24
	MaxLayers  = 1 << 13
	MaxHeads   = 1 << 14
	MaxHeadDim = 1 << 16
	MaxInner   = 1 << 23
	MaxExperts = 1 << 16
	MaxTokens  = 1 << 40
	maxParams  = 1e15
)

// bounded is one named size with the range it must lie in.
type bounded struct {
	name       string
	value      int64
	least, max int64
}

func checkBounds(sizes ...bounded) error {
	for _, s := range sizes {
		if s.value < s.least || s.value > s.max {
			return fmt.Errorf("%s is %d; it must lie between %d and %d", s.name, s.value, s.least, s.max)
		}
	}
	return nil
}

// Check reports the first size that no model can have: negative, zero where a
// count is needed, beyond any published model, or not dividing as the
// architecture demands. Every reader calls it, so a Model that was read can be
// counted without overflow.
func (m *Model) Check() error {
	err := checkBounds(
		bounded{"hidden size", m.Hidden, 1, MaxHidden},
		bounded{"vocabulary", m.Vocab, 1, MaxVocab},
		bounded{"number of layers", int64(len(m.Layers)), 1, MaxLayers},
		bounded{"number of mtp modules", int64(len(m.MTP)), 0, MaxLayers},
		bounded{"learned positions", m.Positions, 0, MaxVocab},
		bounded{"context length", m.MaxContext, 0, MaxTokens},
	)
	if err != nil {
		return err
	}
	total := float64(m.EmbeddingParams() + m.HeadParams())
	for _, stack := range [][]Layer{m.Layers, m.MTP} {
		for i := range stack {
			l := &stack[i]
			if err := l.check(); err != nil {
				return fmt.Errorf("layer %d: %w", i, err)
			}
			total += float64(m.LayerParams(l))
		}
	}
	if total > maxParams {
		return fmt.Errorf("the sizes make %.3g parameters, over %g; one of them is mistyped", total, float64(maxParams))
	}
	return nil
}

func (l *Layer) check() error {
	if err := l.Attention.check(); err != nil {
		return err
	}
	if err := l.FFN.check(); err != nil {
		return err
	}
	return checkBounds(bounded{"norms", l.Norms, 0, 16})
}

func (a *Attention) check() error {
	sizes := []bounded{
		{"attention heads", a.Heads, 1, MaxHeads},
		{"head size", a.QKDim, 1, MaxHeadDim},
		{"value head size", a.VDim, 1, MaxHeadDim},
		{"sliding window", a.Window, 0, MaxTokens},
		{"attention chunk", a.Chunk, 0, MaxTokens},
		{"query and key norm parameters", a.QKNorm, 0, MaxHeads * MaxHeadDim},
		{"attention sinks", a.Sinks, 0, MaxHeads},
	}
	groups := a.KVHeads
	switch a.Kind {
	case MLA:
		groups = a.Heads
		sizes = append(sizes, bounded{"query rank", a.QRank, 0, MaxHidden}, bounded{"kv rank", a.KVRank, 1, MaxHidden},
			bounded{"rotary head size", a.Rope, 0, a.QKDim - 1})
	case Linear:
		groups = a.KeyHeads
		sizes = append(sizes, bounded{"key heads", a.KeyHeads, 1, MaxHeads}, bounded{"convolution width", a.ConvWidth, 1, 1 << 10})
	default:
		sizes = append(sizes, bounded{"kv heads", a.KVHeads, 1, MaxHeads})
	}
	if ix := a.Indexer; ix != nil {
		sizes = append(sizes, bounded{"indexer heads", ix.Heads, 1, MaxHeads}, bounded{"indexer head size", ix.Dim, 1, MaxHeadDim},
			bounded{"indexer top k", ix.TopK, 1, MaxTokens})
	}
	if err := checkBounds(sizes...); err != nil {
		return err
	}
	if a.Heads%groups != 0 {
		return fmt.Errorf("%d attention heads do not divide into %d key/value heads", a.Heads, groups)
	}
	return nil
}

func (f *FFN) check() error {
	if !f.MoE() {
		return checkBounds(bounded{"experts", f.Experts, 0, 0}, bounded{"ffn size", f.Inner, 1, MaxInner})
	}
	err := checkBounds(
		bounded{"ffn size", f.Inner, 0, MaxInner},
		bounded{"experts", f.Experts, 1, MaxExperts},
		bounded{"experts per token", f.TopK, 1, f.Experts},
		bounded{"expert ffn size", f.ExpertInner, 1, MaxInner},
		bounded{"shared expert ffn size", f.SharedInner, 0, MaxInner},
		bounded{"router parameters", f.RouterParams, 0, MaxHidden + MaxExperts},
		bounded{"expert groups", f.Groups, 0, f.Experts},
		bounded{"expert groups per token", f.TopGroups, 0, f.Groups},
	)
	if err == nil && f.Groups > 0 && f.Experts%f.Groups != 0 {
		return fmt.Errorf("%d experts do not divide into %d groups", f.Experts, f.Groups)
	}
	return err
}
