package work

import (
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

const (
	partDense  = "dense ffn"
	partExpert = "routed experts"
	partShared = "shared expert"
	partRouter = "router"
)

// ffn adds the feed-forward half of a layer.
func (b *builder) ffn(f *model.FFN) {
	if f.Inner > 0 {
		b.blockIn(partDense, b.m.Hidden)
		b.mlp(partDense, experts{rows: b.rows, total: b.rows, inner: f.Inner / int64(b.p.TP), groups: 1}, f.Gated, 0, true)
		b.blockOut(partDense)
	}
	if f.MoE() {
		b.moe(f)
	}
}

func partName(f *model.FFN) string {
	if f.MoE() {
		return partExpert
	}
	return partDense
}

// experts is the load of one rank's experts: total rows spread over groups of
// them, rows each (rounded up), inner features wide.
type experts struct{ rows, total, inner, groups int64 }

// mlp is up, activation and down; a dense FFN is one expert.
func (b *builder) mlp(part string, e experts, gated bool, again plan.Recompute, fused bool) {
	inner, width := e.inner, e.inner
	if gated {
		width *= 2
	}
	f := b.p.Precision.GEMM
	n := e.total
	b.linear(product{name: "up", part: part, rows: e.rows, in: b.m.Hidden, out: width, groups: e.groups, total: n, format: f, fused: fused, again: again, parts: width / inner})
	b.save(b.p.Precision.SavedAct.Size(n*width), again)
	b.pass("activation", part, Forward, n*(width+inner)*bf16)
	b.pass("activation", part, Input, n*(2*width+inner)*bf16)
	if b.p.Recompute&(plan.ReAct|again) != 0 {
		b.pass("activation", part, Recompute, n*(width+inner)*bf16)
	}
	b.save(b.p.Precision.SavedInput.Size(n*inner), plan.ReAct|again)
	b.linear(product{name: "down", part: part, rows: e.rows, in: inner, out: b.m.Hidden, groups: e.groups, total: n, format: f, fused: true})
}

// moe is router, dispatch, experts, combine and the shared expert. Tokens are
// those this rank owns (1/tp of them under sequence parallelism); balanced
// routing sends and returns k copies of each. The shared expert is divided over
// expert tensor parallelism as the routed ones are.
func (b *builder) moe(f *model.FFN) {
	h := b.m.Hidden
	pr := &b.p.Precision
	b.linear(product{name: "router", part: partRouter, rows: b.own, in: h, out: f.Experts, format: unit.BF16, bare: true})
	b.pass("softmax and top-k", partRouter, Forward, 3*b.own*f.Experts*4)
	b.pass("softmax and top-k", partRouter, Input, 3*b.own*f.Experts*4)
	b.save(unit.Bytes(2*b.own*f.Experts*4), 0)
	etp := int64(b.p.ETP)
	if f.SharedInner > 0 {
		if f.SharedGate {
			b.linear(product{name: "shared gate", part: partShared, rows: b.own, in: h, out: 1, format: unit.BF16, bare: true})
		}
		rows := b.sharers(partShared, b.own)
		b.mlp(partShared, experts{rows: rows, total: rows, inner: f.SharedInner / etp, groups: 1}, f.Gated, 0, true)
	}
	copies := b.own * f.TopK
	b.exchange(f, copies)
	total := b.sharers(partExpert, copies)
	local := f.Experts / int64(b.p.EP)
	b.save(pr.Dispatch.Size(total*h), 0)
	b.mlp(partExpert, experts{rows: (total + local - 1) / local, total: total, inner: f.ExpertInner / etp, groups: local},
		f.Gated, plan.ReMoE, pr.Dispatch.Bits() == pr.GEMM.Bits())
	b.pass("permute", partExpert, Forward, 2*pr.Dispatch.Bits()*copies*h/8)
	b.pass("permute", partExpert, Input, (copies+b.own)*h*bf16)
	b.pass("unpermute and weigh", partExpert, Forward, (copies+b.own)*h*bf16)
	b.pass("unpermute and weigh", partExpert, Input, 2*copies*h*bf16)
}

// sharers adds the collectives of the ranks that share an expert and returns the
// rows that it sees. With sequence parallelism each has other tokens: they gather
// each other's rows and scatter the summed result. Without, all have the same
// tokens and sum results forward and input gradients backward.
func (b *builder) sharers(part string, rows int64) int64 {
	etp := int64(b.p.ETP)
	if etp == 1 {
		return rows
	}
	if !b.p.SP {
		size := unit.Bytes(rows * b.m.Hidden * bf16)
		b.collective("expert sum", part, Forward, AxisTP, AllReduce, size, etp, 1)
		b.collective("expert input gradient sum", part, Input, AxisTP, AllReduce, size, etp, 1)
		return rows
	}
	gather := unit.Bytes(rows * etp * b.m.Hidden * bf16)
	b.pair("expert gather", part, AxisTP, AllGather, ReduceScatter, gather, etp, 1)
	b.pair("expert reduce", part, AxisTP, ReduceScatter, AllGather, gather, etp, 1)
	return rows * etp
}

// exchange is the expert all-to-all: dispatch and combine forward; backward the
// combine's gradient travels like a dispatch and the dispatch's like a combine
// (arXiv:2412.19437 section 3.3.3).
func (b *builder) exchange(f *model.FFN, copies int64) {
	if b.p.EP == 1 {
		return
	}
	pr := &b.p.Precision
	one := func(name string, phase Phase, format unit.Format) {
		c := Comm{Kind: Dispatch, Axis: AxisEP, Size: int64(b.p.EP), Stride: int64(b.p.ETP),
			Bytes: format.Size(copies / f.TopK * b.m.Hidden), TopK: f.TopK, TopGroups: f.TopGroups, Groups: f.Groups, Experts: f.Experts}
		b.add(Op{Name: name, Part: partExpert, Kind: Collective, Phase: phase, Comm: c, Count: 1})
	}
	one("dispatch", Forward, pr.Dispatch)
	one("combine", Forward, pr.Combine)
	one("combine gradient", Input, pr.Dispatch)
	one("dispatch gradient", Input, pr.Combine)
}
