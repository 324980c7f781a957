package work

import (
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

const partAttention = "attention"

// attention adds the attention half of a layer: norm, projections, core, output
// projection and their collectives.
func (b *builder) attention(a *model.Attention) {
	b.norm("attention norm", partAttention)
	b.blockIn(partAttention)
	tp := int64(b.p.TP)
	heads := a.Heads / tp
	switch a.Kind {
	case model.MLA:
		b.mlaProjections(a, heads)
	case model.Linear:
		b.linearProjections(a)
	default:
		b.gqaProjections(a, heads)
	}
	if a.Indexer != nil {
		b.indexer(a)
	}
	b.context(a, heads)
	b.core(a, heads)
	o := heads * a.VDim
	saved := b.p.Precision.SavedInput
	if saved.Bits() < 16 {
		b.save(saved.Size(b.rows*o), 0) // the projection's own low-precision input
	}
	b.linear(product{name: "o", part: partAttention, rows: b.rows, in: o, out: b.m.Hidden, format: b.p.Precision.GEMM})
	b.blockOut(partAttention)
}

// gqaProjections is q, k and v as one product, rotary embedding included.
func (b *builder) gqaProjections(a *model.Attention, heads int64) {
	kvHeads := max(1, a.KVHeads/int64(b.p.TP))
	q, k, v := heads*a.QKDim, kvHeads*a.QKDim, kvHeads*a.VDim
	if a.SharedKV {
		v = 0
	}
	gate := int64(0)
	if a.OutGate {
		gate = heads * a.VDim
		b.save(unit.Bytes(b.rows*gate*bf16), 0)
		b.pass("output gate", partAttention, Forward, b.rows*3*gate*bf16)
		b.pass("output gate", partAttention, Input, b.rows*5*gate*bf16)
	}
	b.linear(product{name: "qkv", part: partAttention, rows: b.rows, in: b.m.Hidden, out: q + k + v + gate, format: b.p.Precision.GEMM, fused: true})
	b.save(unit.Bytes(b.rows*(q+k+v)*bf16), 0)
	if b.m.Positions == 0 && !a.NoRoPE {
		b.rope(q + k)
	}
	if a.QKNorm > 0 {
		b.pass("qk norm", partAttention, Forward, 2*b.rows*(q+k)*bf16)
		b.pass("qk norm", partAttention, Input, 3*b.rows*(q+k)*bf16)
	}
}

// rope reads and writes width elements per token, forward and backward.
func (b *builder) rope(width int64) {
	b.pass("rope", partAttention, Forward, 2*b.rows*width*bf16)
	b.pass("rope", partAttention, Input, 2*b.rows*width*bf16)
}

// mlaProjections makes the latents on this rank's own tokens, gathers nothing
// but them, and expands them to heads (arXiv:2405.04434 section 2.1).
func (b *builder) mlaProjections(a *model.Attention, heads int64) {
	f := b.p.Precision.GEMM
	nope, q := a.QKDim-a.Rope, heads*a.QKDim
	kv := heads * (nope + a.VDim)
	latent := a.KVRank + a.Rope
	down := latent + a.QRank
	b.linear(product{name: "q_a, kv_a", part: partAttention, rows: b.own, in: b.m.Hidden, out: down, format: f, fused: true})
	b.save(unit.Bytes(b.own*down*bf16), 0)
	b.pass("latent norms", partAttention, Forward, 2*b.own*down*bf16)
	b.pass("latent norms", partAttention, Input, 3*b.own*down*bf16)
	if a.QRank > 0 {
		b.save(b.p.Precision.SavedInput.Size(b.own*(a.QRank+a.KVRank)), plan.ReNorm)
		b.linear(product{name: "q_b", part: partAttention, rows: b.rows, in: a.QRank, out: q, format: f, fused: true, again: plan.ReMLAUp})
	} else {
		b.linear(product{name: "q", part: partAttention, rows: b.rows, in: b.m.Hidden, out: q, format: f, fused: true})
	}
	b.linear(product{name: "kv_b", part: partAttention, rows: b.rows, in: a.KVRank, out: kv, format: f, fused: true, again: plan.ReMLAUp})
	b.save(unit.Bytes(b.rows*(q+heads*(a.QKDim+a.VDim))*bf16), plan.ReMLAUp)
	// the shared rotary key is copied beside every head's part, the query's rotary part is turned in place
	assemble := heads * (2*a.Rope + nope + a.QKDim)
	b.pass("rope and key assembly", partAttention, Forward, b.rows*assemble*bf16)
	b.pass("rope and key assembly", partAttention, Input, b.rows*assemble*bf16)
	if b.p.Recompute&plan.ReMLAUp != 0 {
		b.pass("rope and key assembly", partAttention, Recompute, b.rows*assemble*bf16)
	}
}

func (b *builder) linearProjections(a *model.Attention) {
	tp := int64(b.p.TP)
	k, v := a.KeyHeads*a.QKDim/tp, a.Heads*a.VDim/tp
	out := 2*k + 2*v + 2*a.Heads/tp
	b.linear(product{name: "q, k, v, z, gates", part: partAttention, rows: b.rows, in: b.m.Hidden, out: out, format: b.p.Precision.GEMM, fused: true})
	b.save(unit.Bytes(b.rows*(out+2*k+v)*bf16), 0)
	b.pass("short convolution", partAttention, Forward, 2*b.rows*(2*k+v)*bf16)
	b.pass("short convolution", partAttention, Input, 3*b.rows*(2*k+v)*bf16)
	b.pass("gated norm", partAttention, Forward, 3*b.rows*v*bf16)
	b.pass("gated norm", partAttention, Input, 5*b.rows*v*bf16)
}

func (b *builder) indexer(a *model.Attention) {
	ix := a.Indexer
	in := a.QRank
	if in == 0 {
		in = b.m.Hidden
	}
	f := b.p.Precision.GEMM
	b.linear(product{name: "indexer q", part: partAttention, rows: b.rows, in: in, out: ix.Heads * ix.Dim, format: f, fused: true})
	b.linear(product{name: "indexer k, weights", part: partAttention, rows: b.rows, in: b.m.Hidden, out: ix.Dim + ix.Heads, format: f, fused: true})
	b.save(unit.Bytes(b.rows*(ix.Heads*ix.Dim+ix.Dim+ix.Heads)*bf16), 0)
}

// core is the score-softmax-value product, fused unless the plan says otherwise.
// Its fused backward computes the scores again: five products against two, 2.5
// times the forward work (arXiv:2205.14135 section 3).
func (b *builder) core(a *model.Attention, heads int64) {
	seqs := float64(b.p.MicroBatch)
	flops := unit.FLOPs(seqs * float64(a.CoreFLOPs(b.seq, model.Causal)) / float64(b.p.TP*b.p.CP))
	kvHeads := heads
	if a.Kind == model.GQA {
		kvHeads = max(1, a.KVHeads/int64(b.p.TP))
	}
	read := b.rows * (heads*a.QKDim + kvHeads*(a.QKDim+a.VDim)) * bf16
	written := b.rows * heads * a.VDim * bf16
	op := Op{Name: "core", Part: partAttention, Kind: Attention, Phase: Forward, Format: b.p.Precision.Attention, FLOPs: flops,
		Bytes: unit.Bytes(read + written), HeadDim: a.QKDim, SeqQ: b.seq, Groups: heads * int64(b.p.MicroBatch), Count: 1}
	bwd := op
	bwd.Phase, bwd.Backward, bwd.FLOPs, bwd.Bytes = Input, true, 2.5*flops, unit.Bytes(2*read+3*written)
	if b.p.UnfusedAttn {
		b.unfused(&op, &bwd, a, heads)
	}
	b.add(op)
	if b.p.Recompute&plan.ReAttention != 0 {
		again := op
		again.Phase = Recompute
		b.add(again)
	}
	b.add(bwd)
	b.save(unit.Bytes(written+b.rows*heads*4), plan.ReAttention)
}

// unfused writes and reads the s x s scores: softmax output, dropout mask and
// dropout output, 5 bytes per score and head (arXiv:2205.05198 section 4.1).
func (b *builder) unfused(fwd, bwd *Op, a *model.Attention, heads int64) {
	scores := int64(2*a.Pairs(b.seq, model.Causal)) / int64(b.p.CP) * heads * int64(b.p.MicroBatch)
	fwd.Bytes += unit.Bytes(4 * scores * bf16)
	bwd.Bytes += unit.Bytes(6 * scores * bf16)
	fwd.FLOPs *= 2 // the masked half is computed as well
	bwd.FLOPs = 2 * fwd.FLOPs
	b.save(unit.Bytes(5*scores), plan.ReAttention)
}
