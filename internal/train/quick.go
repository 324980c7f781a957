package train

import (
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Quick is what a search needs to know of every plan.
type Quick struct {
	Memory unit.Bytes
	Fits   bool
	Bound  unit.Seconds // proved: Step is never shorter
}

// Quick gives a legal plan's memory and, where it fits, a lower bound of Step:
// no layout of its passes is shorter, and no resource is busy for longer than
// the step.
func (e *Evaluator) Quick(p *plan.Plan) Quick {
	l := e.prepare(p)
	parts, _ := e.memory(p, &l)
	q := Quick{Memory: parts.Total()}
	q.Fits = q.Memory <= e.limit
	if !q.Fits {
		return q
	}
	end := e.ends(p, &l)
	spec := e.spec(p, &l)
	c := e.ceilings(p, &l)
	n := unit.Seconds(e.repeats(p))
	q.Bound = max(n*sched.LowerBound(&spec)+end.wait+end.update, c.Max())
	return q
}

// Step is the estimate alone, for ranking.
func (e *Evaluator) Step(p *plan.Plan) (unit.Seconds, error) {
	l := e.prepare(p)
	end := e.ends(p, &l)
	spec := e.spec(p, &l)
	t, err := sched.Makespan(&spec)
	c := e.ceilings(p, &l)
	step := max(unit.Seconds(e.repeats(p))*t+end.wait+end.update, c.Max())
	if err == nil && !(step < unit.Seconds(math.Inf(1))) {
		err = fmt.Errorf("plan %s takes no finite time: a figure of %s is missing", p, e.cluster.Device.Name)
	}
	return step, err
}

// Lean names the states of a family of plans that need least memory: the
// highest ZeRO stage, and optimizer states on the host where some plan has them.
type Lean struct {
	ZeRO    int
	Offload bool
}

// Leanest is a lower bound of the memory of every plan that differs from p in
// its states only: each part as small as any of them makes it, activations only
// the layers' inputs, temporaries left out.
func (e *Evaluator) Leanest(p *plan.Plan, lean *Lean) unit.Bytes {
	q := e.unburdened(p)
	s, topo := e.shape(q), e.topology(q)
	l := layout{shape: s, topo: topo, chunks: e.chunksOf(s, topo.parts)}
	q.ZeRO, q.OffloadOptim = lean.ZeRO, lean.Offload
	var most unit.Bytes
	for k := range topo.ranks {
		t := rankMemory(q, &l, &topo.ranks[k], func(c *chunk) unit.Bytes { return c.inputs })
		t[mem.Working], t[mem.Gathered] = 0, 0
		most = max(most, t.Total())
	}
	return most
}

// unburdened is p with nothing recomputed, sharded or moved to the host and
// every overlap on.
func (e *Evaluator) unburdened(p *plan.Plan) *plan.Plan {
	q := &e.bare
	*q = *p
	q.Recompute, q.ZeRO, q.OffloadOptim, q.ShardGroup = plan.ReNone, 0, false, 0
	q.Overlap = plan.Overlap{TP: true, DP: true, PP: true, EP: p.Overlap.EP}
	return q
}

// Busy is a lower bound of the Step of every plan that differs from p in its
// states only, and cheaper than Fastest: the mean rank is busy with its share of
// all micro-batches. Where micro-batches pair up only kernels surely count.
func (e *Evaluator) Busy(p *plan.Plan) unit.Seconds {
	s := e.shape(e.unburdened(p))
	t := s.alone
	if p.Schedule == sched.DualPipe || p.Schedule == sched.DualPipeV || pairsExchange(p) {
		t = s.kernels
	}
	return t * unit.Seconds(p.MicroBatches(e.job.GlobalBatch)) / unit.Seconds(p.PP)
}

// Fastest is a lower bound of the Step of every plan that differs from p in its
// states only: nothing recomputed, nothing sharded, all collectives of data
// parallelism free.
func (e *Evaluator) Fastest(p *plan.Plan) unit.Seconds {
	q := e.unburdened(p)
	l := e.prepare(q)
	spec := e.spec(q, &l)
	e.closings = e.closings[:0] // free
	c := e.ceilings(q, &l)
	return max(unit.Seconds(e.repeats(q))*sched.LowerBound(&spec), c.Max())
}
