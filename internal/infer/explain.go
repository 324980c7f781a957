package infer

import (
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Row is one operation of a step on one GPU, all Times it runs in the step.
type Row struct {
	Op      work.Op // of one run
	Times   float64
	Part    Part
	FLOPs   unit.FLOPs
	Bytes   unit.Bytes // HBM traffic; of a collective, what it sends over all links
	Compute unit.Seconds
	HBM     unit.Seconds
	Floor   unit.Seconds
	Total   unit.Seconds
	Upper   unit.Seconds
	Bound   cost.Resource
}

// Intensity is FLOPs per byte of HBM traffic; 0 without traffic.
func (r *Row) Intensity() float64 {
	if r.Bytes == 0 {
		return 0
	}
	return float64(r.FLOPs) / float64(r.Bytes)
}

// Explain lists the operations of a step with their prices, in the order they run,
// equal layers together; their times and the engine's own make the step's. Operations
// of the routed experts are those of the busiest rank.
func (e *Engine) Explain(b *Batch) []Row {
	if b.Decode <= 0 && b.Prefill <= 0 {
		return nil
	}
	l := e.split(b)
	mode := 0
	if b.Prefill == 0 {
		mode = 1
	}
	var rows []Row
	put := func(ops []work.Op, times float64) {
		for i := range ops {
			rows = append(rows, e.row(&ops[i], times))
		}
	}
	put(e.ops.Embedding(nil, l.rows), 1)
	for i := range e.kinds {
		k := &e.kinds[i]
		n := float64(k.count)
		put(k.shared[mode].list(nil, l.rows), n)
		a := &k.layer.Attention
		put(e.ops.DecodeCore(nil, a, l.decode), n)
		put(e.ops.PromptCore(nil, a, l.prompt), n)
		put(k.absorb.list(nil, l.rows-l.prompt.Prompts*l.prompt.Tokens), n)
		put(k.expand.list(nil, l.expanded), n)
		put(k.experts.list(nil, l.all), n)
	}
	put(e.ops.Head(nil, l.sampled), 1)
	for _, h := range e.hops {
		put(e.ops.Hop(nil, l.rows, h.stride), h.count)
	}
	return rows
}

func (e *Engine) row(op *work.Op, times float64) Row {
	n := unit.Seconds(times)
	r := Row{Op: *op, Times: times, Part: partOf(op.Part), FLOPs: unit.FLOPs(times) * op.FLOPs, Bytes: unit.Bytes(times * float64(op.Bytes))}
	if op.Kind == work.Collective {
		t := e.collective(op)
		r.Part, r.Bound = Communication, t.Link
		r.Bytes = unit.Bytes(times * float64(t.ScaleUpBytes+t.NetworkBytes))
		r.Floor, r.Total, r.Upper = n*t.Floor, n*t.Estimate, n*t.Upper
		return r
	}
	p := e.kernel(op)
	r.Bound = p.Bound
	r.Compute, r.HBM, r.Floor, r.Total, r.Upper = n*p.Compute, n*p.HBM, n*p.Floor, n*p.Estimate, n*p.Upper
	return r
}

// Flips is, for each part, the smallest number of generating sequences of the
// instance, each with context KV tokens, at which its work takes longer than its
// bytes at the achieved rates; 0 where that happens at none up to most.
func (e *Engine) Flips(context, most int64) [NumParts]int64 {
	var flips [NumParts]int64
	for p := range NumParts {
		if p == Communication || p == Overhead || !e.computes(p, most, context) {
			continue
		}
		low, high := int64(0), most
		for high-low > 1 {
			if mid := (low + high) / 2; e.computes(p, mid, context) {
				high = mid
			} else {
				low = mid
			}
		}
		flips[p] = high
	}
	return flips
}

// computes tells whether part p of a decode step of n sequences is bound by its work.
func (e *Engine) computes(p Part, n, context int64) bool {
	var compute, hbm unit.Seconds
	for _, r := range e.Explain(&Batch{Decode: int(n), DecodeContext: n * context}) {
		if r.Part == p {
			compute += r.Compute
			hbm += r.HBM
		}
	}
	return compute > 0 && compute >= hbm
}

// Bound names the resource that decides a step: the largest of the ceilings, or
// latency where waits, launches and the engine's own time exceed it.
func (s *Step) Bound() cost.Resource {
	best, bound := s.Compute, cost.Compute
	for _, r := range []struct {
		t  unit.Seconds
		of cost.Resource
	}{{s.HBM, cost.HBM}, {s.NVLink, cost.ScaleUp}, {s.Network, cost.Network}} {
		if r.t > best {
			best, bound = r.t, r.of
		}
	}
	if s.Parts[Overhead]+s.Wire > best {
		return cost.Latency
	}
	return bound
}
