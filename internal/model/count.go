package model

import "github.com/ridgeline/ridgeline/internal/unit"

// Params is the exact parameter count without MTP modules; tied embeddings count once.
func (m *Model) Params() int64 {
	n := m.EmbeddingParams() + m.HeadParams() + m.Norm.Params(m.Hidden)
	for i := range m.Layers {
		n += m.LayerParams(&m.Layers[i])
	}
	return n
}

// EmbeddingParams counts the token embedding, learned positions and an embedding norm.
func (m *Model) EmbeddingParams() int64 {
	n := (m.Vocab + m.Positions) * m.Hidden
	if m.EmbedNorm {
		n += m.Norm.Params(m.Hidden)
	}
	return n
}

// HeadParams counts the LM head's own matrix: zero when tied.
func (m *Model) HeadParams() int64 {
	var n int64
	if !m.Tied {
		n = m.Vocab * m.Hidden
	}
	if m.HeadBias {
		n += m.Vocab
	}
	return n
}

// LayerParams counts one layer.
func (m *Model) LayerParams(l *Layer) int64 {
	var n int64
	for _, w := range m.Weights(l) {
		n += w.Params()
	}
	return n
}

// ActiveParams is what one token uses, embedding and head included: routed
// experts count TopK of Experts. A tied matrix counts once.
func (m *Model) ActiveParams() int64 {
	n := m.Params()
	for i := range m.Layers {
		f := &m.Layers[i].FFN
		for _, w := range m.Weights(&m.Layers[i]) {
			if w.Role == RoleExpert {
				n -= w.Params() / f.Experts * (f.Experts - f.TopK)
			}
		}
	}
	return n
}

// MTPParams counts the MTP modules' own parameters: a layer, two norms, the
// 2h x h projection and a final norm each (arXiv:2412.19437 section 2.2);
// embedding and head are shared with the main model.
func (m *Model) MTPParams() int64 {
	var n int64
	for i := range m.MTP {
		n += m.LayerParams(&m.MTP[i]) + 2*m.Hidden*m.Hidden + 3*m.Norm.Params(m.Hidden)
	}
	return n
}

// LinearFLOPs is the forward work of the layer's matrix multiplications per
// token: 2 x In x Out, TopK times for routed experts.
func (m *Model) LinearFLOPs(l *Layer) unit.FLOPs {
	var n int64
	for _, w := range m.Weights(l) {
		switch {
		case w.In == 0:
		case w.Role == RoleExpert:
			n += 2 * w.In * w.Out * l.FFN.TopK
		default:
			n += 2 * w.In * w.Out
		}
	}
	return unit.FLOPs(n)
}

// Mask says whether attention scores count every pair or the causal half.
type Mask bool

// Causal halves full attention; Full counts all pairs. Training and prefill are
// causal; the non-causal figure exists because some publications use it for MFU.
const (
	Causal Mask = true
	Full   Mask = false
)

// Pairs is the number of query-key pairs of one sequence of s tokens in this
// layer, as a float because s^2/2 is a convention, not a count. A window,
// a chunk or a sparse selection of w tokens keeps s*w - w^2/2 of the causal
// pairs (queries before the w-th see fewer), or s*w non-causal.
func (a *Attention) Pairs(s int64, mask Mask) float64 {
	n := float64(s)
	if a.Chunk > 0 && s > a.Chunk {
		whole, rest := float64(s/a.Chunk), float64(s%a.Chunk)
		c := float64(a.Chunk)
		return half(whole*c*c+rest*rest, mask)
	}
	w := n
	if a.Window > 0 {
		w = min(w, float64(a.Window))
	}
	if a.Indexer != nil {
		w = min(w, float64(a.Indexer.TopK))
	}
	if mask == Full {
		return n * w
	}
	return n*w - w*w/2
}

func half(n float64, mask Mask) float64 {
	if mask == Causal {
		return n / 2
	}
	return n
}

// CoreFLOPs is the forward work of attention outside its projections for one
// sequence of s tokens: 2 x pairs x heads x (d_qk + d_v); the indexer's scores
// over all pairs come on top. A linear layer reads, corrects and writes a
// d_qk x d_v state per head and token: 3 products of 2 d_qk d_v, plus the
// depthwise convolution.
func (a *Attention) CoreFLOPs(s int64, mask Mask) unit.FLOPs {
	if a.Kind == Linear {
		state := 6 * a.Heads * a.QKDim * a.VDim
		conv := 2 * a.ConvWidth * (2*a.KeyHeads*a.QKDim + a.Heads*a.VDim)
		return unit.FLOPs(s * (state + conv))
	}
	f := 2 * a.Pairs(s, mask) * float64(a.Heads*(a.QKDim+a.VDim))
	if ix := a.Indexer; ix != nil {
		f += 2 * half(float64(s)*float64(s), mask) * float64(ix.Heads*ix.Dim)
	}
	return unit.FLOPs(f)
}

// FLOPsPerToken is the work of training on one token of a sequence of s:
// forward plus a backward of twice that, head included, recomputation not, with
// the first mtp MTP modules (a layer, a projection and a head each).
func (m *Model) FLOPsPerToken(s int64, mask Mask, mtp int) unit.FLOPs {
	head := unit.FLOPs(2 * m.Hidden * m.Vocab)
	f := head
	add := func(l *Layer) {
		f += m.LinearFLOPs(l) + l.Attention.CoreFLOPs(s, mask)/unit.FLOPs(s)
	}
	for i := range m.Layers {
		add(&m.Layers[i])
	}
	for i := range min(mtp, len(m.MTP)) {
		add(&m.MTP[i])
		f += head + unit.FLOPs(4*m.Hidden*m.Hidden)
	}
	return 3 * f
}

// WeightGradientFLOPs is the part of FLOPsPerToken that the gradients of the
// weights take, which adapters on frozen weights do without.
func (m *Model) WeightGradientFLOPs(mtp int) unit.FLOPs {
	head := unit.FLOPs(2 * m.Hidden * m.Vocab)
	f := head
	for i := range m.Layers {
		f += m.LinearFLOPs(&m.Layers[i])
	}
	for i := range min(mtp, len(m.MTP)) {
		f += m.LinearFLOPs(&m.MTP[i]) + head + unit.FLOPs(4*m.Hidden*m.Hidden)
	}
	return f
}

// KVBytesPerToken is the cache that one token takes over all layers, in format
// f, and over the first mtp MTP modules, each a layer that attends: MLA keeps
// latent and rotary key once, linear layers hold a fixed state and add nothing.
// Windowed and chunked layers count: the token occupies them until it leaves the
// window.
func (m *Model) KVBytesPerToken(f unit.Format, mtp int) float64 {
	var elements int64
	for i := range m.Layers {
		elements += m.Layers[i].Attention.KVElements()
	}
	for i := range min(mtp, len(m.MTP)) {
		elements += m.MTP[i].Attention.KVElements()
	}
	return float64(elements) * f.BytesPer()
}

// NormsAllHeads tells whether queries and keys are normalised over all heads at once,
// which tensor-parallel ranks can only do together.
func (a *Attention) NormsAllHeads() bool {
	return a.Heads+a.KVHeads > 2 && a.QKNorm == (a.Heads+a.KVHeads)*a.QKDim
}

// KVElements is the cache elements one token takes in this layer.
func (a *Attention) KVElements() int64 {
	var n int64
	switch {
	case a.Kind == Linear:
	case a.Kind == MLA:
		n = a.KVRank + a.Rope
	case a.SharedKV:
		n = a.KVHeads * a.QKDim
	default:
		n = a.KVHeads * (a.QKDim + a.VDim)
	}
	if a.Indexer != nil {
		n += a.Indexer.Dim
	}
	return n
}
