package train

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Evaluate answers for one legal plan.
func (e *Evaluator) Evaluate(p *plan.Plan) (*Result, error) {
	if err := e.mach.Supports(p.Precision.GEMM); err != nil {
		return nil, err
	}
	l := e.prepare(p)
	spec := e.spec(p, &l)
	lay, err := sched.Lay(&spec)
	if err != nil {
		return nil, err
	}
	n := unit.Seconds(e.repeats(p))
	r := &Result{Plan: *p, Experts: e.job.Model.MoE(), Stranger: !e.mach.SustainedMeasured(), Limit: e.limit, MicroBatches: p.MicroBatches(e.job.GlobalBatch)}
	r.Memory, r.MemoryRank = e.memory(p, &l)
	r.Fits = r.Memory.Total() <= e.limit
	end := e.ends(p, &l)
	r.Ceilings = e.ceilings(p, &l)
	r.HardwareFLOPs = e.executed(p, &l)
	laid := n*lay.Step + end.wait + end.update
	r.Step = max(laid, r.Ceilings.Max())
	r.waits(lay, &l, &end, n)
	r.Waits[WaitLinks] = r.Step - laid
	e.throughput(r)
	e.bounds(r, &spec, &l, &end)
	e.bind(r)
	r.warn()
	return r, nil
}

// narrow is the free share of memory below which a plan may not fit after all:
// about half of the median error of predicted memory (docs/accuracy.md).
const narrow = 0.03

// warn says what a reader should doubt.
func (r *Result) warn() {
	p := &r.Plan
	if free := r.Limit - r.Memory.Total(); r.Fits && free < unit.Bytes(narrow*float64(r.Limit)) {
		r.Warnings = append(r.Warnings, note.New(note.NarrowMemory, "", "fits with %s to spare, less than predicted memory is off by in the median run: measure it", unit.FormatGB(free)).With("bytes", float64(free)))
	}
	if p.ZeRO == 3 && p.PP > 1 {
		r.Warnings = append(r.Warnings, note.New(note.ZeROPipeline, "", "no published run combines ZeRO-3 with a pipeline: this estimate is not validated"))
	}
}

func (e *Evaluator) throughput(r *Result) {
	j := e.job
	r.Tokens = float64(j.GlobalBatch-j.Idle) * float64(j.Seq)
	if e.perToken == 0 {
		e.perToken = j.Model.FLOPsPerToken(int64(j.Seq), model.Causal, j.MTP)
	}
	r.FLOPsPerToken = e.perToken
	if r.Plan.Tuning != plan.FullTraining { // frozen weights have no gradient of their own
		r.FLOPsPerToken -= j.Model.WeightGradientFLOPs(j.MTP)
	}
	peak := e.cluster.Device.Peak
	r.Peak = unit.FLOPRate(peak.Matrix[unit.BF16].Value)
	if r.Peak == 0 {
		r.Peak = unit.FLOPRate(peak.Matrix[unit.FP16].Value)
	}
}

// bounds gives the floor (each resource alone at its achieved rate, or the
// pipeline of floor kernels, whichever is longer) and the upper bound (kernels
// at their worst, every collective in line).
func (e *Evaluator) bounds(r *Result, spec *sched.Spec, l *layout, end *closing) {
	t := &e.times
	serial := func(f, b int) unit.Seconds { return t.f[f] + t.b[b] + t.w[b] }
	s := *spec
	if s.Times.Pair != nil {
		s.Times.Pair = serial
	}
	whole := !spec.Kind.Splits()
	t.fill(l, whole, &[hops]unit.Seconds{}, func(p *passCost) unit.Seconds { return p.floor })
	n := unit.Seconds(e.repeats(&r.Plan))
	r.Lower = max(r.Ceilings.Max(), n*sched.LowerBound(&s))
	hop := l.hops(func(x *traffic) unit.Seconds { return x.upper })
	t.fill(l, whole, &hop, func(p *passCost) unit.Seconds { return p.upper + p.serial })
	if m, err := sched.Makespan(&s); err == nil {
		r.Upper = n*m + end.upper
	}
	r.Upper = max(r.Upper, r.Step)
}

// bind names what sets the step: the resource that would take longest alone, or
// the bubble where it is longer; but the busier link wherever ranks wait for
// communication longer than their kernels run.
func (e *Evaluator) bind(r *Result) {
	c := &r.Ceilings
	link, busy := BoundNVLink, c.NVLink
	if c.Network > busy {
		link, busy = BoundNetwork, c.Network
	}
	var waits unit.Seconds
	for _, w := range []Wait{WaitTP, WaitCP, WaitEP, WaitDP, WaitPP, WaitLinks} {
		waits += r.Waits[w]
	}
	if busy > 0 && waits > r.Kernels() {
		busy = max(busy, waits)
	}
	r.Bound = BoundCompute
	longest := c.Compute
	for _, x := range []struct {
		bound Bound
		t     unit.Seconds
	}{{BoundHBM, c.HBM}, {link, busy}, {BoundBubble, r.Waits[WaitBubble]}} {
		if x.t > longest {
			r.Bound, longest = x.bound, x.t
		}
	}
	node, dev := &e.cluster.Node, e.cluster.Device
	switch r.Bound {
	case BoundNVLink:
		r.LinkKind, r.LinkRate = node.ScaleUpKind, e.mach.ScaleUpRate()
		r.Link = fmt.Sprintf("%s of %s, %.4g GB/s per GPU and direction", node.ScaleUpKind, dev.Name, float64(e.mach.ScaleUpRate())/1e9)
	case BoundNetwork:
		r.LinkKind, r.LinkRate = node.NICKind, e.mach.NetworkRate()
		r.Link = fmt.Sprintf("%s between nodes, %.4g GB/s per GPU and direction", node.NICKind, float64(e.mach.NetworkRate())/1e9)
	}
}
