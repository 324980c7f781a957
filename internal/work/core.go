package work

import (
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// indexer is sparse attention's scorer. Its weights are whole on every rank, and
// so are its projections and its scores over all pairs.
func (b *builder) indexer(a *model.Attention) {
	ix := a.Indexer
	in := a.QRank
	if in == 0 {
		in = b.m.Hidden
	}
	f := b.p.Precision.GEMM
	b.linear(product{name: "indexer q", part: partAttention, rows: b.rows, in: in, out: ix.Heads * ix.Dim, format: f, fused: true})
	b.linear(product{name: "indexer k, weights", part: partAttention, rows: b.rows, in: b.m.Hidden, out: ix.Dim + ix.Heads, format: f, fused: true, parts: 2})
	width := ix.Heads*ix.Dim + ix.Dim + ix.Heads
	b.save(unit.Bytes(b.rows*width*bf16), 0)
	flops := unit.FLOPs(float64(b.p.MicroBatch)*float64(a.CoreFLOPs(b.seq, model.Causal)-selected(a, b.seq))) / unit.FLOPs(b.p.CP)
	op := Op{Name: "indexer scores", Part: partAttention, Kind: Attention, Phase: Forward, Format: b.p.Precision.Attention, FLOPs: flops,
		Bytes: unit.Bytes(b.rows * width * bf16), HeadDim: ix.Dim, SeqQ: b.queries(), Groups: ix.Heads * int64(b.p.MicroBatch), Count: 1}
	b.add(op)
	op.Phase, op.Backward, op.FLOPs, op.Bytes = Input, true, fusedBackward(ix.Dim, 0)*flops, 3*op.Bytes
	b.add(op)
}

// selected is the core's forward FLOPs of one sequence on the pairs that are
// attended to, the indexer's scores left out.
func selected(a *model.Attention, seq int64) unit.FLOPs {
	dense := *a
	dense.Indexer = nil
	if a.Indexer != nil {
		dense.Window = a.Indexer.TopK
		if a.Window > 0 {
			dense.Window = min(a.Window, a.Indexer.TopK)
		}
	}
	return dense.CoreFLOPs(seq, model.Causal)
}

// queries is the query tokens of one sequence on this rank. The all-to-all form
// of context parallelism holds all tokens of 1/cp of the heads instead, as many rows.
func (b *builder) queries() int64 { return b.seq / int64(b.p.CP) }

// fusedBackward is the backward over the forward work of a fused core: scores
// are computed again, and queries, keys and values get gradients, three products
// of width d_qk and two of width d_v against one of each (arXiv:2205.14135
// section 3): 2.5 where the widths are equal, 2.6 under MLA.
func fusedBackward(qk, v int64) unit.FLOPs {
	return unit.FLOPs(3*qk+2*v) / unit.FLOPs(qk+v)
}

// core is the score-softmax-value product, fused unless the plan says otherwise.
func (b *builder) core(a *model.Attention, heads int64) {
	seqs := float64(b.p.MicroBatch)
	flops := unit.FLOPs(seqs * float64(selected(a, b.seq)) / float64(b.p.TP*b.p.CP))
	read := b.rows * (heads*a.QKDim + b.keyValue(a, heads)) * bf16
	written := b.rows * heads * a.VDim * bf16
	op := Op{Name: "core", Part: partAttention, Kind: Attention, Phase: Forward, Format: b.p.Precision.Attention, FLOPs: flops,
		Bytes: unit.Bytes(read + written), HeadDim: a.QKDim, SeqQ: b.queries(), Groups: heads * int64(b.p.MicroBatch), Count: 1}
	bwd := op
	bwd.Phase, bwd.Backward, bwd.FLOPs, bwd.Bytes = Input, true, fusedBackward(a.QKDim, a.VDim)*flops, unit.Bytes(2*read+3*written)
	if b.p.UnfusedAttn && a.Kind != model.Linear {
		b.unfused(&op, &bwd, a, heads)
	} else {
		b.save(unit.Bytes(b.rows*heads*4), plan.ReAttention) // log-sum-exp of every row
	}
	b.add(op)
	if b.p.Recompute&plan.ReAttention != 0 {
		again := op
		again.Phase = Recompute
		b.add(again)
	}
	b.add(bwd)
	// Recomputing the core cannot drop its output where that is the projection's stored input.
	kept := plan.ReNone
	if b.ownInput(a) {
		kept = plan.ReAttention
	}
	b.save(unit.Bytes(written), kept)
}

// unfused writes and reads the s x s scores, those that the mask hides included:
// softmax output, dropout mask and dropout output, 5 bytes per score and head
// (arXiv:2205.05198 section 4.1).
func (b *builder) unfused(fwd, bwd *Op, a *model.Attention, heads int64) {
	scores := float64(b.rows) * float64(b.seq*heads)
	fwd.Bytes += unit.Capped(4 * scores * bf16)
	bwd.Bytes += unit.Capped(6 * scores * bf16)
	fwd.FLOPs = unit.FLOPs(2 * scores * float64(a.QKDim+a.VDim))
	bwd.FLOPs = 2 * fwd.FLOPs
	b.save(unit.Capped(5*scores), plan.ReAttention)
}
