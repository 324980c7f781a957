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

// fill writes every chunk's pass lengths, computed once per kind, and the delay
// of every boundary. Where the schedule runs both halves of the backward in one
// pass, what hides behind kernels hides behind those of both.
func (t *timeline) fill(l *layout, whole bool, hop *[hops]unit.Seconds, length func(*passCost) unit.Seconds) {
	t.resize(len(l.topo.of))
	t.kinds = t.kinds[:0]
	for k := range l.chunks {
		c := &l.chunks[k].pass
		x := [directions]unit.Seconds{forward: length(&c[forward])}
		if whole {
			both := c.both()
			x[backward] = length(&both)
		} else {
			x[backward], x[weight] = length(&c[backward]), length(&c[weight])
		}
		t.kinds = append(t.kinds, x)
	}
	for i, k := range l.topo.of {
		c := &t.kinds[k]
		t.f[i], t.b[i], t.w[i] = c[forward], c[backward], c[weight]
		if i > 0 {
			t.comm[i-1] = hop[l.topo.cross[i-1]]
		}
	}
}

// passes is what a chunk runs in each direction.
type passes [directions]passCost

// both is input and weight gradient as one pass.
func (c *passes) both() passCost {
	b := c[backward]
	b.add(&c[weight], 1)
	b.taken = max(b.taken, c[weight].taken)
	return b
}

// spec lays the estimate's times on the plan's schedule. Without overlap the
// ranks themselves wait for their sends.
func (e *Evaluator) spec(p *plan.Plan, l *layout) sched.Spec {
	t := &e.times
	hop := l.hops(func(x *traffic) unit.Seconds { return x.estimate })
	t.fill(l, !p.Schedule.Splits(), &hop, (*passCost).alone)
	if pairsExchange(p) {
		e.hideExchange(p, l)
	}
	if !p.Overlap.PP {
		for i, c := range t.comm {
			t.f[i] += c
			t.b[i+1] += c
		}
	}
	sp := sched.Spec{Kind: p.Schedule, Stages: p.PP, MicroBatches: p.MicroBatches(e.job.GlobalBatch) / e.repeats(p), VPP: p.VPP,
		Times: sched.Times{F: t.f, B: t.b, W: t.w, Comm: t.comm}}
	if p.Schedule == sched.DualPipe || p.Schedule == sched.DualPipeV {
		sp.Times.Pair = e.pair(p, l)
	}
	return sp
}

// pairsExchange tells whether forward and backward passes of different micro-batches run
// side by side, so that the expert exchange of one hides behind the kernels of the other.
func pairsExchange(p *plan.Plan) bool {
	return p.Overlap.EP && p.EP > 1 && (p.PP == 1 || p.Schedule == sched.Interleaved)
}

// hideExchange shortens the passes that the steady state pairs: a forward and a backward of
// a chunk take together what pair says, and each its share of that. Forwards of the start and backwards
// of the end have no partner: (p-1) + (v-1)p of the m v of a rank in the mean.
func (e *Evaluator) hideExchange(p *plan.Plan, l *layout) {
	t := &e.times
	pair := e.pair(p, l)
	v, m := max(p.VPP, 1), p.MicroBatches(e.job.GlobalBatch)
	lone := min(1, float64((p.PP-1)+(v-1)*p.PP)/float64(m*v))
	if p.PP == 1 {
		lone = 1 / float64(m)
	}
	for i := range t.f {
		alone := t.f[i] + t.b[i] + t.w[i]
		by := unit.Seconds(lone) + unit.Seconds(1-lone)*min(1, pair(i, i)/alone)
		t.f[i], t.b[i], t.w[i] = by*t.f[i], by*t.b[i], by*t.w[i]
	}
}

// repeats is how often the step runs what spec lays out: without a pipeline one
// micro-batch follows another.
func (e *Evaluator) repeats(p *plan.Plan) int {
	if p.PP > 1 {
		return 1
	}
	return p.MicroBatches(e.job.GlobalBatch)
}

// hops is one figure of both kinds of boundary crossing.
func (l *layout) hops(of func(*traffic) unit.Seconds) (h [hops]unit.Seconds) {
	for i := range l.hop {
		h[i] = of(&l.hop[i])
	}
	return h
}

// pair is the length of a forward of chunk f overlapped with a backward of chunk
// b: the exchanges of one hide behind the kernels of the other, which run on the
// multiprocessors that the exchange leaves them for the whole pair, since the
// split is set by hand beforehand (arXiv:2412.19437 section 3.2.1); an exchange
// too short to be worth it waits in line. Waits for routed experts stay where one thread launches both
// micro-batches (DeepEP's dispatch keeps the host until the counts are there; with them the published
// step of DeepSeek-V3 is met), and are covered where Overlap.EP runs two streams. Collectives of the states hide there
// too, but share the links with the exchanges.
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
		if p.Overlap.EP {
			waits -= x.waits[work.AxisEP] + y.waits[work.AxisEP] + z.waits[work.AxisEP]
		}
		links := x.exchange + y.exchange + z.exchange + x.states + y.states + z.states
		hidden := x.hidden + y.hidden + z.hidden
		if p.EP == 1 { // only collectives of the states run beside the kernels
			kernels += x.taken*x.states + y.taken*y.states + z.taken*z.states
		}
		return min(max(slow*kernels, links+hidden), kernels+links) + waits
	}
}

// ends gives every kind of rank's close of the step, and the longest.
func (e *Evaluator) ends(p *plan.Plan, l *layout) (worst closing) {
	e.closings = e.closings[:0]
	tied := e.job.Model.Tied && p.EndsApart()
	for i := range l.topo.ranks {
		r := &l.topo.ranks[i]
		var w work.Params
		var first, last unit.Seconds
		both := false
		for _, k := range r.locals {
			c := &l.chunks[k]
			w.Add(c.params, 1)
			w.Add(c.ends, 1)
			first += c.pass[forward].kernels
			last += c.pass[backward].kernels + c.pass[weight].kernels
			both = both || l.topo.kinds[k].first || l.topo.kinds[k].last
		}
		c := e.close(p, w, r.layers, first, last)
		if tied && both {
			c.tie(e.tied(p))
		}
		e.closings = append(e.closings, c)
		if i == 0 || c.wait+c.update > worst.wait+worst.update {
			worst = c
		}
	}
	return worst
}

// ceilings is each resource's seconds over the step on its busiest rank: its
// passes, its sends and its own close of the step. ends must have run.
func (e *Evaluator) ceilings(p *plan.Plan, l *layout) (c Ceilings) {
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
		for h := range l.hop {
			x.add(&l.hop[h].sol, per*unit.Seconds(r.sends[h]))
		}
		if i < len(e.closings) {
			x.add(&e.closings[i].sol, 1)
		}
		c = Ceilings{max(c.Compute, x.Compute), max(c.HBM, x.HBM), max(c.NVLink, x.NVLink), max(c.Network, x.Network)}
	}
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
