package train

import (
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// content is what a chunk holds: layers per class and whether it is an end of
// the model. Chunks with equal content are priced once.
type content struct {
	layers      []int64
	first, last bool
}

// parts is the model cut into chunks.
type parts struct {
	kinds []content
	of    []uint16 // kind of each chunk
}

// rankKind is a set of pipeline ranks that hold chunks of the same kinds.
type rankKind struct {
	locals []uint16 // kinds of the local chunks
	held   int      // most chunk activations in flight on any of these ranks
	rank   int      // the rank that holds them
	inner  int      // local chunks that receive from another chunk
}

// topology is the parts on the ranks of one schedule.
type topology struct {
	*parts
	ranks []rankKind
}

type topologyKey struct {
	schedule     sched.Kind
	pp, vpp, mbs int // mbs: micro-batches per pipeline
}

// cut spreads the layers over chunks, by forward FLOPs where they do not divide
// evenly, and finds the distinct chunks.
func (e *Evaluator) cut(chunks int) *parts {
	if p := e.cuts[chunks]; p != nil {
		return p
	}
	p := &parts{of: make([]uint16, chunks)}
	from := 0
	for i, n := range plan.Partition(len(e.job.Model.Layers), chunks, e.load(chunks)) {
		c := content{layers: make([]int64, len(e.classes)), first: i == 0, last: i == chunks-1}
		for k := range e.classes {
			c.layers[k] = int64(e.prefix[k][from+n] - e.prefix[k][from])
		}
		from += n
		p.of[i] = p.kind(&c)
	}
	e.cuts[chunks] = p
	return p
}

// kind finds or adds a content.
func (p *parts) kind(c *content) uint16 {
	for k := range p.kinds {
		if p.kinds[k].equal(c) {
			return uint16(k)
		}
	}
	p.kinds = append(p.kinds, *c)
	return uint16(len(p.kinds) - 1)
}

func (c *content) equal(d *content) bool {
	if c.first != d.first || c.last != d.last {
		return false
	}
	for i := range c.layers {
		if c.layers[i] != d.layers[i] {
			return false
		}
	}
	return true
}

// load is a chunk's forward FLOPs per token, head and MTP modules included.
func (e *Evaluator) load(chunks int) func(chunk, from, to int) float64 {
	m, seq := e.job.Model, int64(e.job.Seq)
	head := float64(2 * m.Hidden * m.Vocab)
	last := head
	for i := range min(e.job.MTP, len(m.MTP)) {
		l := &m.MTP[i]
		last += head + float64(m.LinearFLOPs(l)+l.Attention.CoreFLOPs(seq, model.Causal)/unit.FLOPs(seq))
	}
	return func(c, from, to int) float64 {
		var f float64
		for k := range e.classes {
			f += float64(e.prefix[k][to]-e.prefix[k][from]) * e.flops[k]
		}
		if c == chunks-1 {
			f += last
		}
		return f
	}
}

// topology places the plan's chunks on its ranks.
func (e *Evaluator) topology(p *plan.Plan) *topology {
	m := p.MicroBatches(e.job.GlobalBatch)
	key := topologyKey{p.Schedule, p.PP, p.VPP, m}
	if t := e.topologies[key]; t != nil {
		return t
	}
	t := &topology{parts: e.cut(p.Chunks())}
	locals := make([]uint16, p.Schedule.LocalChunks(p.VPP))
	for r := range p.PP {
		inner := 0
		for i := range locals {
			c := p.Schedule.ChunkAt(r, i, p.PP)
			locals[i] = t.of[c]
			if c > 0 {
				inner++
			}
		}
		held := sched.InFlight(p.Schedule, p.PP, m, p.VPP, r)
		if p.PP == 1 {
			held = len(locals)
		}
		t.add(locals, rankKind{held: held, rank: r, inner: inner})
	}
	e.topologies[key] = t
	return t
}

func (t *topology) add(locals []uint16, k rankKind) {
	for i := range t.ranks {
		if same(t.ranks[i].locals, locals) {
			if r := &t.ranks[i]; k.held > r.held {
				r.held, r.rank = k.held, k.rank
			}
			return
		}
	}
	k.locals = append([]uint16(nil), locals...)
	t.ranks = append(t.ranks, k)
}

func same(a, b []uint16) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
