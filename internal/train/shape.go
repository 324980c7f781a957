package train

import (
	"sync"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

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
