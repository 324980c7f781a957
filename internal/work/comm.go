package work

import (
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// norm is residual addition and normalisation of this rank's own tokens: two
// reads and two writes forward; backward reads x, the gradient and the residual
// gradient and writes one.
func (b *builder) norm(name, part string) {
	n := b.own * b.m.Hidden
	b.pass(name, part, Forward, 4*n*bf16)
	b.pass(name, part, Input, 4*n*bf16)
	if b.p.Recompute&plan.ReNorm != 0 {
		b.pass(name, part, Recompute, 2*n*bf16)
	}
	x := unit.Bytes(n * bf16)
	b.lay.Saved += x
	if b.lay.Input == 0 {
		b.lay.Input = x
	}
	b.save(b.p.Precision.SavedInput.Size(n), plan.ReNorm)
}

// postNorm normalises a block's output in place of the bare addition; its input
// is kept, its output goes into the residual only.
func (b *builder) postNorm(name, part string) {
	n := b.own * b.m.Hidden
	b.pass(name, part, Forward, 2*n*bf16)
	b.pass(name, part, Input, 3*n*bf16)
	b.save(unit.Bytes(n*bf16), 0)
}

// blockIn and blockOut are tensor parallelism's collectives around a block.
// With sequence parallelism the input is gathered and the output scattered,
// backward mirrors both and gathers the input once more for the weight gradient
// (arXiv:2205.05198 section 4.2.2); without, the output is all-reduced forward
// and the input's gradient backward.
// width is the features of that input.
func (b *builder) blockIn(part string, width int64) {
	if b.p.TP == 1 {
		return
	}
	full := unit.Bytes(b.rows * width * bf16)
	tp := int64(b.p.TP)
	if !b.p.SP {
		b.collective("input gradient all-reduce", part, Input, AxisTP, AllReduce, full, tp, 1)
		return
	}
	b.pair("input all-gather", part, AxisTP, AllGather, ReduceScatter, full, tp, 1)
	if b.p.Tuning == plan.FullTraining {
		b.collective("input all-gather", part, Weight, AxisTP, AllGather, full, tp, 1)
	}
}

func (b *builder) blockOut(part string) {
	if b.p.TP == 1 {
		return
	}
	full := unit.Bytes(b.rows * b.m.Hidden * bf16)
	tp := int64(b.p.TP)
	if !b.p.SP {
		b.collective("output all-reduce", part, Forward, AxisTP, AllReduce, full, tp, 1)
		return
	}
	b.pair("output reduce-scatter", part, AxisTP, ReduceScatter, AllGather, full, tp, 1)
}

// pair adds a collective forward and its mirror in the input gradient.
func (b *builder) pair(name, part string, axis Axis, fwd, bwd CommKind, bytes unit.Bytes, size, stride int64) {
	b.collective(name, part, Forward, axis, fwd, bytes, size, stride)
	b.collective(name, part, Input, axis, bwd, bytes, size, stride)
}

func (b *builder) collective(name, part string, phase Phase, axis Axis, kind CommKind, bytes unit.Bytes, size, stride int64) {
	b.add(Op{Name: name, Part: part, Kind: Collective, Phase: phase, Count: 1,
		Comm: Comm{Kind: kind, Axis: axis, Size: size, Stride: stride, Bytes: bytes}})
}

// context is the exchange of context parallelism: ring attention passes keys and
// values around, and their gradients too on the way back (arXiv:2310.01889); the
// all-to-all form turns token shards into head shards for q, k, v and back for
// the output (arXiv:2309.14509).
func (b *builder) context(a *model.Attention, heads int64) {
	if b.p.CP == 1 {
		return
	}
	cp, tp := int64(b.p.CP), int64(b.p.TP)
	kv := b.keyValue(a, heads)
	if a.Kind == model.Linear { // only the running state crosses ranks
		state := unit.Bytes(int64(b.p.MicroBatch) * heads * a.QKDim * a.VDim * 4)
		b.pair("state ring", partAttention, AxisCP, RingExchange, RingExchange, state, cp, tp)
		return
	}
	if b.p.CPAllToAll {
		if a.Kind == model.GQA { // heads fewer than ranks are sent to several
			held := max(1, a.KVHeads/tp)
			kv = kv / held * max(held, cp)
		}
		size := unit.Bytes(b.rows * (heads*(a.QKDim+a.VDim) + kv) * bf16)
		b.pair("head all-to-all", partAttention, AxisCP, AllToAll, AllToAll, size, cp, tp)
		return
	}
	block := unit.Bytes(b.rows * kv * bf16)
	b.collective("kv ring", partAttention, Forward, AxisCP, RingExchange, block, cp, tp)
	b.collective("kv and gradient ring", partAttention, Input, AxisCP, RingExchange, 2*block, cp, tp)
}
