package infer

import (
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Names of the rows that are no operations.
const (
	waitRow   = "waits between nodes"
	turnRow   = "waits for the slowest stage"
	engineRow = "scheduling, launches, sampling"
)

// Explain lists the operations of a step with their prices, in the order they run,
// equal layers together, and behind them what a step takes besides: half a round trip
// for each exchange that crosses nodes, the turn of a pipeline over its stages' sum,
// and the engine's own time. Estimates add up to Step's Total and upper bounds to its
// Upper; Step spreads the pipeline's waits over its parts. Operations of the routed
// experts are those of the busiest rank.
func (e *Engine) Explain(b *Batch) []Row {
	if b.Decode <= 0 && b.Prefill <= 0 {
		return nil
	}
	l := e.split(b)
	var all sums
	scale := e.sum(&all, b, &l)
	var rows []Row
	put := func(ops []work.Op, times float64) {
		for i := range ops {
			rows = append(rows, e.row(&ops[i], times))
		}
	}
	tabled := func(c *curve, n int64, times float64) { rows = append(rows, e.tabled(c, n, times)...) }
	tabled(e.embed, l.rows, 1)
	for i := range e.kinds {
		k := &e.kinds[i]
		n := float64(k.count)
		tabled(k.shared[mode(b)], l.rows, n)
		a := &k.layer.Attention
		put(e.ops.DecodeCore(nil, a, l.decode), n)
		put(e.ops.PromptCore(nil, a, l.prompt), n)
		tabled(k.absorb, l.rows-l.prompt.Prompts*l.prompt.Tokens, n)
		tabled(k.expand, l.expanded, n)
		if k.layer.FFN.MoE() {
			tabled(k.experts, l.all, n)
		}
	}
	tabled(e.head, l.sampled, 1)
	for _, h := range e.hops {
		put(e.ops.Hop(nil, l.rows, h.stride), h.count)
	}
	beside := func(name string, p Part, times float64, floor, total, upper unit.Seconds) {
		if upper > 0 {
			rows = append(rows, Row{Op: work.Op{Name: name, Kind: work.Elementwise}, Times: times, Part: p, Floor: floor, Total: total, Upper: upper, Bound: cost.Latency})
		}
	}
	wire, over, more := unit.Seconds(all.exchanges*e.half), e.overhead(b), scale-1
	beside(waitRow, Communication, all.exchanges, wire, wire, wire)
	beside(turnRow, Overhead, 1, 0, unit.Seconds(all.total*more), unit.Seconds(all.upper*more))
	beside(engineRow, Overhead, 1, 0, over, over)
	return rows
}

// tabled is the operations of n tokens at the prices of a curve: between two of its
// points both have their share, as in a step.
func (e *Engine) tabled(c *curve, n int64, times float64) []Row {
	if n <= 0 {
		return nil
	}
	price := func(n int64) (rows []Row) {
		ops := c.list(nil, n)
		for i := range ops {
			rows = append(rows, e.row(&ops[i], times))
		}
		return rows
	}
	rows := price(n)
	_, _, low, high := slot(n)
	if n == low {
		return rows
	}
	a, b := price(low), price(high)
	x := unit.Seconds(n-low) / unit.Seconds(high-low)
	for i := range rows {
		r, a, b := &rows[i], &a[i], &b[i]
		for _, t := range [...]struct {
			to   *unit.Seconds
			a, b unit.Seconds
		}{{&r.Compute, a.Compute, b.Compute}, {&r.HBM, a.HBM, b.HBM}, {&r.Pipes, a.Pipes, b.Pipes}, {&r.Memory, a.Memory, b.Memory}, {&r.Floor, a.Floor, b.Floor}, {&r.Total, a.Total, b.Total}, {&r.Upper, a.Upper, b.Upper}} {
			*t.to = t.a*(1-x) + t.b*x
		}
	}
	return rows
}

// row prices an operation. An exchange between nodes leaves its latency to the row of
// the waits.
func (e *Engine) row(op *work.Op, times float64) Row {
	n := unit.Seconds(times)
	r := Row{Op: *op, Times: times, Part: partOf(op.Part), FLOPs: unit.FLOPs(times) * op.FLOPs, Bytes: unit.Bytes(times * float64(op.Bytes))}
	if op.Kind == work.Collective {
		t := e.collective(op)
		own := unit.Seconds(0)
		if t.NetworkBytes > 0 {
			own = unit.Seconds(e.half - e.extra)
		}
		n *= unit.Seconds(max(op.Count, 1))
		r.Part, r.Bound = Communication, t.Link
		r.Bytes = unit.Bytes(times * float64(t.ScaleUpBytes+t.NetworkBytes))
		r.Floor, r.Total, r.Upper = n*min(t.Floor, t.Estimate-own), n*(t.Estimate-own), n*(t.Upper-own)
		return r
	}
	p := e.kernel(op)
	r.Bound, r.Padded, r.Pipes, r.Memory = p.Bound, p.Padded, n*p.Pipes, n*p.Memory
	r.Compute, r.HBM, r.Floor, r.Total, r.Upper = n*p.Compute, n*p.HBM, n*p.Floor, n*p.Estimate, n*p.Upper
	return r
}
