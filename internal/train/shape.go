package train

import (
	"sync"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// direction is one of the three passes of a pipeline: F, B (with the forward
// work that recomputation repeats) and W.
type direction int

const (
	forward direction = iota
	backward
	weight
	directions
)

// directionOf maps a work phase to the pass that runs it.
var directionOf = [work.NumPhases]direction{work.Forward: forward, work.Recompute: backward, work.Input: backward, work.Weight: weight}

// passCost is what one pass of one layer (or end) costs one rank for one
// micro-batch.
type passCost struct {
	floor, kernels, upper unit.Seconds // kernels without communication
	waits                 [work.NumAxes]unit.Seconds
	exchange              unit.Seconds // expert all-to-all, hidden only where two micro-batches pair up
	states                unit.Seconds // ZeRO-2 and ZeRO-3 collectives of the pass, hidden behind kernels
	hidden                unit.Seconds // kernel time that already covers tensor- and context-parallel collectives
	taken                 unit.Seconds // share of the multiprocessors that they take, 0 to 1
	serial                unit.Seconds // all communication, nothing hidden, pessimistic rates
	latency               unit.Seconds
	sol                   Ceilings
	flops                 unit.FLOPs
}

// add sums n times q into p.
func (p *passCost) add(q *passCost, n float64) {
	s := unit.Seconds(n)
	p.floor += s * q.floor
	p.kernels += s * q.kernels
	p.upper += s * q.upper
	for a := range p.waits {
		p.waits[a] += s * q.waits[a]
	}
	p.exchange += s * q.exchange
	p.states += s * q.states
	p.hidden += s * q.hidden
	p.serial += s * q.serial
	p.latency += s * q.latency
	p.sol.add(&q.sol, s)
	p.flops += unit.FLOPs(n) * q.flops
}

// alone is the length of the pass when no other micro-batch covers its exchange:
// the states' collectives hide behind its kernels only, since the exchange
// occupies the same links.
func (p *passCost) alone() unit.Seconds {
	return p.line() + p.exchange + p.uncovered()
}

// uncovered is what the states' collectives add to the pass: the part that its
// kernels do not cover, or the slowdown of the kernels, which leave them
// multiprocessors while they run.
func (p *passCost) uncovered() unit.Seconds {
	return max(p.states-(p.kernels-p.hidden), p.taken*p.states)
}

// line is kernels and the waits between them, which no pairing can hide.
func (p *passCost) line() unit.Seconds {
	t := p.kernels
	for _, w := range p.waits {
		t += w
	}
	return t
}

// steady is line without the wait for routed experts, which another micro-batch's kernels cover.
func (p *passCost) steady() unit.Seconds { return p.line() - p.waits[work.AxisEP] }

// layerCost is a layer priced under one shape: its passes and its memory.
type layerCost struct {
	pass                           [directions]passCost
	params                         work.Params
	saved, input, dropped, working unit.Bytes
}

// price turns one layer's operations into passes.
func (e *Evaluator) price(p *plan.Plan, l *work.Layer) layerCost {
	mach := e.mach
	c := layerCost{params: l.Params, saved: l.Saved, input: l.Input, dropped: l.Dropped, working: l.Working}
	var tp, cp, core [directions]unit.Seconds
	sustained := unit.Seconds(mach.Sustained())
	for i := range l.Ops {
		op := &l.Ops[i]
		d := directionOf[op.Phase]
		q := &c.pass[d]
		if op.Kind != work.Collective {
			x := mach.Op(op)
			q.floor += x.Floor
			q.kernels += x.Estimate / sustained
			q.upper += x.Upper / sustained
			q.sol.Compute += x.Compute
			q.sol.HBM += x.HBM
			q.flops += op.FLOPs
			if op.Kind == work.Attention {
				core[d] += x.Estimate / sustained
			}
			continue
		}
		x := mach.Collective(&op.Comm)
		n := unit.Seconds(max(op.Count, 1))
		q.sol.NVLink += n * x.ScaleUp
		q.sol.Network += n * x.Network
		q.serial += n * x.Upper
		q.latency += n * x.Latency
		switch op.Comm.Axis {
		case work.AxisTP:
			tp[d] += n * x.Estimate
		case work.AxisCP:
			cp[d] += n * x.Estimate
		default:
			q.exchange += n * x.Estimate
		}
	}
	for d := range c.pass {
		q := &c.pass[d]
		q.waits[work.AxisTP] = tpWait(p, e.pipelinesTP(p), tp[d], q.kernels-core[d])
		q.waits[work.AxisCP] = cpWait(p, cp[d], core[d])
		q.hidden = tp[d] + cp[d] - q.waits[work.AxisTP] - q.waits[work.AxisCP]
	}
	if l.Params.Expert > 0 {
		c.pass[forward].launch(mach.ExpertWait())
		c.pass[backward].launch(mach.ExpertWait())
		if p.Recompute.Has(plan.ReMoE) {
			c.pass[backward].launch(mach.ExpertWait())
		}
	}
	return c
}

// launch adds a wait for the launch of routed experts.
func (p *passCost) launch(wait unit.Seconds) {
	p.waits[work.AxisEP] += wait
	p.serial += wait
}

// tpWait is what stays visible of tensor-parallel collectives. Pipelined with
// their products in tp chunks, all but the first chunk can hide behind the
// kernels outside attention.
func tpWait(p *plan.Plan, piped bool, comm, kernels unit.Seconds) unit.Seconds {
	if !piped {
		return comm
	}
	return comm - min(comm*unit.Seconds(p.TP-1)/unit.Seconds(p.TP), kernels)
}

// pipelinesTP tells whether tensor-parallel collectives run beside their
// products. Where micro-batches pair up to hide the expert exchange, its kernels
// already hold the links and the multiprocessors that pipelining would need.
// Across nodes nothing pipelines them: the engines' fused kernels need a
// scale-up link.
func (e *Evaluator) pipelinesTP(p *plan.Plan) bool {
	paired := p.EP > 1 && (p.Schedule == sched.DualPipe || p.Schedule == sched.DualPipeV)
	return p.TP > 1 && p.Overlap.TP && !paired && p.TP <= e.job.NodeGPUs
}

// cpWait is what stays visible of context parallelism: the ring hides behind the
// attention of the block in hand, all but the first of cp blocks; the
// all-to-all precedes attention and hides behind nothing.
func cpWait(p *plan.Plan, comm, core unit.Seconds) unit.Seconds {
	if p.CPAllToAll || p.CP == 1 {
		return comm
	}
	return comm - min(comm, core*unit.Seconds(p.CP-1)/unit.Seconds(p.CP))
}

// shape is a plan's layers priced once: everything that does not depend on the
// pipeline, the data-parallel degree or the sharding of states.
type shape struct {
	class       []layerCost // per distinct layer of the model
	embed, head layerCost
	mtp         []layerCost
	// seconds of all layers, ends and MTP modules for one micro-batch on one rank
	// of each: kernels alone, and with every wait that a lone pass has
	kernels, alone unit.Seconds
	boundary       unit.Bytes  // what crosses to the next stage, per micro-batch
	layer          work.Params // the largest layer
	widest         work.Params // the largest unit of ZeRO-3: a layer, the embedding or the head
}

// shapes are shared by the clones of an Evaluator; a shape never changes once stored.
type shapes struct {
	mu sync.Mutex
	of map[shapeKey]*shape
}

func (s *shapes) get(k shapeKey) *shape {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[k]
}

// put keeps the first of two shapes that were priced at the same time.
func (s *shapes) put(k shapeKey, x *shape) *shape {
	s.mu.Lock()
	defer s.mu.Unlock()
	if y := s.of[k]; y != nil {
		return y
	}
	s.of[k] = x
	return x
}

// shapeKey is the part of a plan that shape depends on.
type shapeKey struct {
	tp, cp, ep, etp, mbs, rank     int
	sp, a2a, unfused, piped, apart bool
	recompute                      plan.Recompute
	tuning                         plan.Tuning
}

func (e *Evaluator) key(p *plan.Plan) shapeKey {
	return shapeKey{tp: p.TP, cp: p.CP, ep: p.EP, etp: p.ETP, mbs: p.MicroBatch, rank: p.LoRARank, sp: p.SP, a2a: p.CPAllToAll,
		unfused: p.UnfusedAttn, piped: e.pipelinesTP(p), apart: e.copies && p.EndsApart(), recompute: p.Recompute, tuning: p.Tuning}
}

// shape finds or prices the plan's layers.
func (e *Evaluator) shape(p *plan.Plan) *shape {
	key := e.key(p)
	s := e.shapes[key]
	if s == nil {
		if s = e.shared.get(key); s == nil {
			s = e.shared.put(key, e.priceAll(p))
		}
		e.shapes[key] = s
	}
	return s
}

// priceAll prices every distinct layer, the ends and the MTP modules.
func (e *Evaluator) priceAll(p *plan.Plan) *shape {
	m, seq := e.job.Model, int64(e.job.Seq)
	s := &shape{class: make([]layerCost, len(e.classes))}
	for i := range e.classes {
		l := e.maker.Layer(m, &e.classes[i], p, seq)
		s.class[i] = e.price(p, &l)
		s.wider(l.Params, &s.layer)
	}
	l := e.maker.Embedding(m, p, seq)
	s.embed = e.price(p, &l)
	l = e.maker.Head(m, p, seq)
	s.head = e.price(p, &l)
	for i := range min(e.job.MTP, len(m.MTP)) {
		l = e.maker.MTP(m, &m.MTP[i], p, seq)
		s.mtp = append(s.mtp, e.price(p, &l))
	}
	for _, c := range append([]layerCost{s.embed, s.head}, s.mtp...) {
		s.wider(c.params, &s.widest)
	}
	s.wider(s.layer, &s.widest)
	e.total(s)
	s.boundary = boundary(e.job, p)
	return s
}

// total sums the whole model.
func (e *Evaluator) total(s *shape) {
	layers := len(e.job.Model.Layers)
	add := func(l *layerCost, n int32) {
		for d := range l.pass {
			s.kernels += unit.Seconds(n) * l.pass[d].kernels
			s.alone += unit.Seconds(n) * l.pass[d].alone()
		}
	}
	for k := range s.class {
		add(&s.class[k], e.prefix[k][layers])
	}
	add(&s.embed, 1)
	add(&s.head, 1)
	for k := range s.mtp {
		add(&s.mtp[k], 1)
	}
}

// wider keeps the larger of two units.
func (s *shape) wider(x work.Params, keep *work.Params) {
	if x.Dense+x.Expert > keep.Dense+keep.Expert {
		*keep = x
	}
}

// boundary is the activation that crosses from stage to stage: micro-batch x
// seq x hidden in 16 bit, divided by context and, with sequence parallelism, by
// tensor parallelism.
func boundary(j *plan.Job, p *plan.Plan) unit.Bytes {
	n := int64(p.MicroBatch) * int64(j.Seq) * j.Model.Hidden * 2 / int64(p.CP)
	if p.SP {
		n /= int64(p.TP)
	}
	return unit.Bytes(n)
}
