package work

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// DecodeLoad is the generating sequences of one replica.
type DecodeLoad struct {
	Sequences int64
	Tokens    int64   // query tokens of each: 1 and its drafts
	Context   float64 // keys of each, mean
}

// PromptLoad is the prompt chunks of one replica: each has Tokens tokens behind
// Past tokens that are cached already.
type PromptLoad struct {
	Prompts int64
	Tokens  int64
	Past    float64
}

// Reach is how many of context keys a query of the layer sees: a window, a chunk
// or a selection bounds it. Chunked layers are taken at the chunk's middle.
func Reach(a *model.Attention, context float64) float64 {
	if a.Window > 0 {
		context = min(context, float64(a.Window))
	}
	if c := float64(a.Chunk); a.Chunk > 0 && context > c {
		context = c / 2
	}
	if a.Indexer != nil {
		context = min(context, float64(a.Indexer.TopK))
	}
	return context
}

// DecodeCore is the attention core of generating sequences: every sequence reads
// its own cache. MLA scores against the latent: 2 h_q s_q s_k (d_k + d_v) FLOPs with
// d_k = rank + rope and d_v = rank. Under decode context parallelism a rank holds
// 1/dcp of the keys and computes dcp times the heads, with two exchanges around.
func (s *Serving) DecodeCore(dst []Op, a *model.Attention, d DecodeLoad) []Op {
	if d.Sequences == 0 {
		return dst
	}
	tp, dcp := int64(s.Plan.TP), int64(s.Plan.DCP)
	heads := a.Heads / tp
	if a.Kind == model.Linear {
		return s.state(dst, a, d.Sequences, d.Sequences*d.Tokens)
	}
	keys := Reach(a, d.Context)
	qk, v, each := a.QKDim, a.VDim, s.CacheBytes(a)
	if a.Kind == model.MLA {
		qk, v = a.KVRank+a.Rope, a.KVRank
	}
	rows := d.Sequences * d.Tokens
	if ix := a.Indexer; ix != nil {
		own := float64(ix.Dim) * s.KV.BytesPer()
		each -= own
		all := d.Context / float64(dcp)
		dst = append(dst, Op{Name: "indexer scores", Part: partAttention, Kind: Attention, Format: unit.BF16, Decode: true,
			FLOPs: unit.FLOPs(2 * float64(rows*ix.Heads*ix.Dim) * all), Bytes: unit.Bytes(float64(d.Sequences)*all*own + float64(rows)*all*4),
			HeadDim: ix.Dim, SeqQ: d.Tokens, Groups: ix.Heads * d.Sequences, Sequences: d.Sequences, KVHeads: 1, SeqKV: all, KV: s.KV, Count: 1})
		dst = s.pass(dst, "top-k", partAttention, float64(rows)*all*4)
	}
	if dcp > 1 {
		dst = s.comm(dst, "query gather", partAttention, Comm{Kind: AllGather, Axis: AxisTP, Size: dcp, Stride: 1, Bytes: unit.Bytes(rows * heads * dcp * qk * bf16)})
		heads, keys = heads*dcp, keys/float64(dcp)
	}
	dst = append(dst, Op{Name: "decode core", Part: partAttention, Kind: Attention, Format: unit.BF16, Decode: true,
		FLOPs: unit.FLOPs(2 * float64(rows*heads*(qk+v)) * keys), Bytes: unit.Bytes(float64(d.Sequences)*keys*each + float64(rows*heads*(qk+v)*bf16)),
		HeadDim: qk, SeqQ: d.Tokens, Groups: heads * d.Sequences, Sequences: d.Sequences, KVHeads: s.kvHeads(a), SeqKV: keys, KV: s.KV, Count: 1})
	if dcp > 1 {
		dst = s.comm(dst, "output scatter", partAttention, Comm{Kind: ReduceScatter, Axis: AxisTP, Size: dcp, Stride: 1, Bytes: unit.Bytes(rows * heads * v * bf16)})
	}
	return dst
}

// state is a linear layer's recurrence over tokens of some sequences: the state is
// read and written once per sequence.
func (s *Serving) state(dst []Op, a *model.Attention, sequences, tokens int64) []Op {
	tp := int64(s.Plan.TP)
	heads, keys := a.Heads/tp, max(1, a.KeyHeads/tp)
	bytes := float64(2*sequences)*float64(s.StateBytes(a)) + float64(tokens*(2*keys*a.QKDim+2*heads*a.VDim)*bf16)
	return append(dst, Op{Name: "linear recurrence", Part: partAttention, Kind: Elementwise, Format: unit.BF16, Bytes: unit.Bytes(bytes),
		FLOPs: unit.FLOPs(6 * float64(tokens*heads*a.QKDim*a.VDim)), Count: 1})
}

// PromptCore is the attention core of prompt chunks, MLA unabsorbed.
func (s *Serving) PromptCore(dst []Op, a *model.Attention, p PromptLoad) []Op {
	if p.Prompts == 0 || p.Tokens == 0 {
		return dst
	}
	tp := int64(s.Plan.TP)
	heads := a.Heads / tp
	rows := p.Prompts * p.Tokens
	if a.Kind == model.Linear {
		return s.chunked(dst, a, p)
	}
	n := float64(p.Prompts)
	held := p.Past + float64(p.Tokens)
	if ix := a.Indexer; ix != nil {
		flops := 2 * n * pairs(p, 0) * float64(ix.Heads*ix.Dim)
		dst = append(dst, Op{Name: "indexer scores", Part: partAttention, Kind: Attention, Format: unit.BF16, FLOPs: unit.FLOPs(flops),
			Bytes:   unit.Bytes(float64(rows*ix.Heads*ix.Dim*bf16) + n*held*float64(ix.Dim)*s.KV.BytesPer()),
			HeadDim: ix.Dim, SeqQ: p.Tokens, Groups: ix.Heads * p.Prompts, Sequences: p.Prompts, KVHeads: 1, SeqKV: held, KV: s.KV, Count: 1})
	}
	read := s.CacheBytes(a)
	if a.Kind == model.MLA { // the expanded keys and values
		read = float64(heads * (a.QKDim + a.VDim) * bf16)
	}
	return append(dst, Op{Name: "prompt core", Part: partAttention, Kind: Attention, Format: unit.BF16,
		FLOPs:   unit.FLOPs(2 * n * seen(a, p) * float64(heads*(a.QKDim+a.VDim))),
		Bytes:   unit.Bytes(n*held*read + float64(rows*heads*(a.QKDim+a.VDim)*bf16)),
		HeadDim: a.QKDim, SeqQ: p.Tokens, Groups: heads * p.Prompts, Sequences: p.Prompts, KVHeads: s.promptKVHeads(a), SeqKV: held, KV: s.KV, Count: 1})
}

// promptKVHeads is the key heads of a prompt's core: under MLA every head has its own.
func (s *Serving) promptKVHeads(a *model.Attention) int64 {
	if a.Kind == model.MLA {
		return a.Heads / int64(s.Plan.TP)
	}
	return s.kvHeads(a)
}

// chunked is the recurrence over whole prompts, computed chunk by chunk as
// products: FLOPs of model.Attention.CoreFLOPs.
func (s *Serving) chunked(dst []Op, a *model.Attention, p PromptLoad) []Op {
	heads := a.Heads / int64(s.Plan.TP)
	op := s.state(dst, a, p.Prompts, p.Prompts*p.Tokens)
	last := &op[len(op)-1]
	last.Kind, last.HeadDim, last.SeqQ, last.Groups = Attention, a.QKDim, p.Tokens, heads*p.Prompts
	return op
}

// limit is the keys one query may see of those before it, 0 = all.
func limit(a *model.Attention) float64 {
	w := float64(a.Window)
	if a.Indexer != nil {
		w = float64(a.Indexer.TopK)
	}
	return w
}

// seen is the query-key pairs of one prompt chunk in the layer.
func seen(a *model.Attention, p PromptLoad) float64 {
	if c := float64(a.Chunk); c > 0 {
		return chunkPairs(p.Past+float64(p.Tokens), c) - chunkPairs(p.Past, c)
	}
	return pairs(p, limit(a))
}

// chunkPairs is the pairs of a prompt's first n tokens that attend within chunks of c.
func chunkPairs(n, c float64) float64 {
	whole := math.Floor(n / c)
	rest := n - whole*c
	return (whole*c*c + rest*rest) / 2
}

// pairs is the query-key pairs of one prompt chunk whose queries see at most w
// keys (0 = all): the queries before the w-th see fewer. Half a pair per query,
// the diagonal's, is left out as in model.Attention.Pairs.
//
//	sum over i < tokens of min(past + i, w)
func pairs(p PromptLoad, w float64) float64 {
	t, past := float64(p.Tokens), p.Past
	if w <= 0 || past+t <= w {
		return t * (past + t/2)
	}
	short := max(w-past, 0) // queries that see fewer than w
	return short*(past+short/2) + (t-short)*w
}
