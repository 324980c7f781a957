package work

import (
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Attention is the attention half of a layer for n tokens of a replica, without
// what depends on the cache: see Core, Absorb and Expand.
func (s *Serving) Attention(dst []Op, l *model.Layer, n int64) []Op {
	a := &l.Attention
	tp := int64(s.Plan.TP)
	heads := a.Heads / tp
	dst = s.norm(dst, "attention norm", partAttention, n)
	switch a.Kind {
	case model.MLA:
		dst = s.latents(dst, a, n)
	case model.Linear:
		k, v := max(1, a.KeyHeads/tp)*a.QKDim, heads*a.VDim
		dst = s.linear(dst, "q, k, v, z, gates", partAttention, n, s.Model.Hidden, 2*k+2*v+2*heads)
		dst = s.pass(dst, "short convolution", partAttention, float64(2*n*(2*k+v)*bf16))
		dst = s.pass(dst, "gated norm", partAttention, float64(3*n*v*bf16))
	default:
		dst = s.heads(dst, a, n)
	}
	if ix := a.Indexer; ix != nil {
		in := a.QRank
		if in == 0 {
			in = s.Model.Hidden
		}
		dst = s.linear(dst, "indexer q", partAttention, n, in, ix.Heads*ix.Dim)
		dst = s.linear(dst, "indexer k, weights", partAttention, n, s.Model.Hidden, ix.Dim+ix.Heads)
	}
	dst = s.linear(dst, "o", partAttention, n, heads*a.VDim, s.Model.Hidden)
	if l.Norms >= 4 {
		dst = s.norm(dst, "attention output norm", partAttention, n)
	}
	return s.reduce(dst, "attention all-reduce", partAttention, n)
}

// heads is q, k and v as one product, then norms, rotary embedding and the
// cache's new entries in one pass.
func (s *Serving) heads(dst []Op, a *model.Attention, n int64) []Op {
	tp := int64(s.Plan.TP)
	q, kv := a.Heads/tp*a.QKDim, max(1, a.KVHeads/tp)
	k, v := kv*a.QKDim, kv*a.VDim
	if a.SharedKV {
		v = 0
	}
	out := q + k + v
	if a.OutGate {
		out += a.Heads / tp * a.VDim
	}
	dst = s.linear(dst, "qkv", partAttention, n, s.Model.Hidden, out)
	if a.NormsAllHeads() {
		dst = s.wideNorm(dst, q+k, n)
	}
	dst = s.pass(dst, "rope and cache", partAttention, float64(n)*(float64(2*q+2*k+v)*bf16+float64(k+v)*s.KV.BytesPer()))
	if a.OutGate {
		dst = s.pass(dst, "output gate", partAttention, float64(3*n*a.Heads/tp*a.VDim*bf16))
	}
	return dst
}

// wideNorm normalises queries and keys, width values on a rank, over all heads at once:
// ranks hold some heads each, so the sums of squares, one of the queries and one of the
// keys in FP32, are added over them between two passes (vLLM's
// model_executor/models/minimax_m2.py, norm of queries and keys under TP).
func (s *Serving) wideNorm(dst []Op, width, n int64) []Op {
	dst = s.pass(dst, "query and key squares", partAttention, float64(n*width*bf16))
	dst = s.comm(dst, "query and key squares", partAttention, Comm{Kind: AllReduce, Axis: AxisTP, Size: int64(s.Plan.TP), Stride: 1,
		Bytes: unit.Bytes(n * 2 * 4), OneShot: true})
	return s.pass(dst, "query and key norms", partAttention, float64(2*n*width*bf16))
}

// latents is MLA's projections to and from the query latent and to the shared
// latent, which every TP rank makes whole (arXiv:2405.04434 section 2.1).
func (s *Serving) latents(dst []Op, a *model.Attention, n int64) []Op {
	q, latent := a.Heads/int64(s.Plan.TP)*a.QKDim, a.KVRank+a.Rope
	dst = s.linear(dst, "q_a, kv_a", partAttention, n, s.Model.Hidden, a.QRank+latent)
	dst = s.pass(dst, "latent norms", partAttention, float64(2*n*(a.QRank+latent)*bf16))
	if a.QRank > 0 {
		dst = s.linear(dst, "q_b", partAttention, n, a.QRank, q)
	} else {
		dst = s.linear(dst, "q", partAttention, n, s.Model.Hidden, q)
	}
	return s.pass(dst, "rope and cache", partAttention, float64(n)*(float64(2*a.Heads/int64(s.Plan.TP)*a.Rope+latent)*bf16+float64(latent)*s.KV.BytesPer()))
}

// Absorb is MLA's decode form for n generated tokens: queries are multiplied into
// the latent's space and the latent results back out, one product per head, instead
// of expanding the cache (arXiv:2405.04434 section 2.1.2). Nothing for other kinds.
func (s *Serving) Absorb(dst []Op, l *model.Layer, n int64) []Op {
	a := &l.Attention
	if a.Kind != model.MLA || n == 0 {
		return dst
	}
	heads := a.Heads / int64(s.Plan.TP)
	dst = s.plain(dst, s.AbsorbedLinear, "absorb query", partAttention, n, a.QKDim-a.Rope, a.KVRank, heads)
	return s.plain(dst, s.AbsorbedLinear, "absorb value", partAttention, n, a.KVRank, a.VDim, heads)
}

// Expand is MLA's prefill form: n latents, of the chunk and of what the cache holds
// before it, are expanded to keys and values of every head.
func (s *Serving) Expand(dst []Op, l *model.Layer, n int64) []Op {
	a := &l.Attention
	if a.Kind != model.MLA || n == 0 {
		return dst
	}
	heads := a.Heads / int64(s.Plan.TP)
	return s.linear(dst, "kv_b", partAttention, n, a.KVRank, heads*(a.QKDim-a.Rope+a.VDim))
}

// kvHeads is the key heads that one rank reads: its share, at least one. Linear
// layers and MLA's latent have none of their own.
func (s *Serving) kvHeads(a *model.Attention) int64 {
	if a.Kind != model.GQA {
		return 1
	}
	return max(1, a.KVHeads/int64(s.Plan.TP))
}

// CacheBytes is the bytes that one token takes in one rank's cache of the layer,
// before decode context parallelism divides them. Under TP the MLA latent is whole
// on every rank, and key heads are copied where ranks outnumber them.
func (s *Serving) CacheBytes(a *model.Attention) float64 {
	var n int64
	switch {
	case a.Kind == model.Linear:
		return 0
	case a.Kind == model.MLA:
		n = a.KVRank + a.Rope
	case a.SharedKV:
		n = s.kvHeads(a) * a.QKDim
	default:
		n = s.kvHeads(a) * (a.QKDim + a.VDim)
	}
	if a.Indexer != nil {
		n += a.Indexer.Dim
	}
	return float64(n) * s.KV.BytesPer()
}

// StateBytes is what one sequence keeps on a rank whatever its length: the FP32
// state of linear attention and its convolution's last inputs.
func (s *Serving) StateBytes(a *model.Attention) unit.Bytes {
	if a.Kind != model.Linear {
		return 0
	}
	tp := int64(s.Plan.TP)
	heads, keys := a.Heads/tp, max(1, a.KeyHeads/tp)
	conv := (a.ConvWidth - 1) * (2*keys*a.QKDim + heads*a.VDim)
	return unit.Bytes(heads*a.QKDim*a.VDim*4 + conv*bf16)
}
