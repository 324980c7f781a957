package train

import (
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// timeline is the scratch of one plan's pipeline: seconds per chunk.
type timeline struct {
	f, b, w, comm []unit.Seconds
	kinds         [][directions]unit.Seconds
}

func (t *timeline) resize(n int) {
	if cap(t.f) < n {
		t.f, t.b, t.w, t.comm = make([]unit.Seconds, n), make([]unit.Seconds, n), make([]unit.Seconds, n), make([]unit.Seconds, n)
	}
	t.f, t.b, t.w, t.comm = t.f[:n], t.b[:n], t.w[:n], t.comm[:max(n-1, 0)]
}

// fill writes every chunk's pass lengths, computed once per kind.
func (t *timeline) fill(l *layout, hop unit.Seconds, length func(*passCost) unit.Seconds) {
	t.resize(len(l.topo.of))
	t.kinds = t.kinds[:0]
	for k := range l.chunks {
		c := &l.chunks[k].pass
		t.kinds = append(t.kinds, [directions]unit.Seconds{length(&c[forward]), length(&c[backward]), length(&c[weight])})
	}
	for i, k := range l.topo.of {
		c := &t.kinds[k]
		t.f[i], t.b[i], t.w[i] = c[forward], c[backward], c[weight]
		if i > 0 {
			t.comm[i-1] = hop
		}
	}
}

// spec lays the estimate's times on the plan's schedule. Without overlap the
// ranks themselves wait for their sends.
func (e *Evaluator) spec(p *plan.Plan, l *layout) sched.Spec {
	t := &e.times
	t.fill(l, l.hop.estimate, (*passCost).alone)
	if !p.Overlap.PP && p.PP > 1 {
		for i := range t.f {
			t.f[i] += l.hop.estimate
			t.b[i] += l.hop.estimate
		}
	}
	sp := sched.Spec{Kind: p.Schedule, Stages: p.PP, MicroBatches: p.MicroBatches(e.job.GlobalBatch), VPP: p.VPP,
		Times: sched.Times{F: t.f, B: t.b, W: t.w, Comm: t.comm}}
	if p.Schedule == sched.DualPipe || p.Schedule == sched.DualPipeV {
		sp.Times.Pair = e.pair(p, l)
	}
	return sp
}

// pair is the length of a forward of chunk f overlapped with a backward of chunk
// b: the exchanges of one hide behind the kernels of the other, which run on
// the multiprocessors that the exchange leaves them. Collectives of the states
// hide there too, but share the links with the exchanges.
func (e *Evaluator) pair(p *plan.Plan, l *layout) func(f, b int) unit.Seconds {
	slow := unit.Seconds(1)
	if p.EP > 1 {
		slow = unit.Seconds(1 / (1 - e.mach.CommSMShare()))
	}
	return func(f, b int) unit.Seconds {
		x, back := &l.at(f).pass[forward], &l.at(b).pass
		y, z := &back[backward], &back[weight]
		kernels := x.kernels + y.kernels + z.kernels
		waits := x.line() + y.line() + z.line() - kernels
		links := x.exchange + y.exchange + z.exchange + x.states + y.states + z.states
		hidden := x.hidden + y.hidden + z.hidden
		return max(slow*kernels, links+hidden) + waits
	}
}

// ends gives every kind of rank's close of the step and keeps the longest.
func (e *Evaluator) ends(p *plan.Plan, l *layout) (worst closing) {
	layers := max(1, len(e.job.Model.Layers)/p.PP)
	for i := range l.topo.ranks {
		var w work.Params
		var first, last unit.Seconds
		for _, k := range l.topo.ranks[i].locals {
			c := &l.chunks[k]
			w.Add(c.params, 1)
			w.Add(c.ends, 1)
			first = c.pass[forward].kernels
			last = c.pass[backward].kernels + c.pass[weight].kernels
		}
		c := e.close(p, w, layers, first, last)
		if i == 0 || c.wait+c.update > worst.wait+worst.update {
			worst = c
		}
	}
	return worst
}

// ceilings sums each resource's seconds over the step, each on its busiest
// rank, the close of the step included, and the mean rank's executed FLOPs.
func (e *Evaluator) ceilings(p *plan.Plan, l *layout, end *closing) (c Ceilings) {
	m := unit.Seconds(p.MicroBatches(e.job.GlobalBatch))
	for i := range l.topo.ranks {
		r := &l.topo.ranks[i]
		per := m * unit.Seconds(len(l.topo.of)) / unit.Seconds(p.PP*len(r.locals))
		var x Ceilings
		for _, k := range r.locals {
			for d := range directions {
				x.add(&l.chunks[k].pass[d].sol, per)
			}
		}
		x.add(&l.hop.sol, per*unit.Seconds(r.inner))
		c = Ceilings{max(c.Compute, x.Compute), max(c.HBM, x.HBM), max(c.NVLink, x.NVLink), max(c.Network, x.Network)}
	}
	c.add(&end.sol, 1)
	return c
}

// executed is the FLOPs of the mean rank in a step.
func (e *Evaluator) executed(p *plan.Plan, l *layout) unit.FLOPs {
	var f unit.FLOPs
	for _, k := range l.topo.of {
		for d := range directions {
			f += l.chunks[k].pass[d].flops
		}
	}
	return f * unit.FLOPs(p.MicroBatches(e.job.GlobalBatch)) / unit.FLOPs(p.PP)
}
