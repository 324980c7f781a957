package train

import (
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// chunk is one kind of model part along the pipeline, priced and weighed.
type chunk struct {
	pass    passes
	params  work.Params // layers
	ends    work.Params // embedding, head
	saved   unit.Bytes  // per micro-batch
	inputs  unit.Bytes  // part of saved: what stays under full recomputation
	working unit.Bytes  // largest temporary
}

// chunkSet is the kinds of chunks of one cut under one shape: the last ones
// asked for, since plans that share them follow each other.
type chunkSet struct {
	shape *shape
	parts *parts
	list  []chunk
}

// chunksOf prices the kinds of chunks of a cut; the list is valid until the next call.
func (e *Evaluator) chunksOf(s *shape, p *parts) []chunk {
	set := &e.chunks
	if set.shape == s && set.parts == p {
		return set.list
	}
	set.shape, set.parts, set.list = s, p, set.list[:0]
	for i := range p.kinds {
		set.list = append(set.list, chunk{})
		k, c := &p.kinds[i], &set.list[i]
		for class, n := range k.layers {
			if n > 0 {
				c.addLayers(&s.class[class], n)
			}
		}
		if k.first {
			c.addEnd(&s.embed)
		}
		if k.last {
			c.addEnd(&s.head)
			for m := range s.mtp {
				c.addLayers(&s.mtp[m], 1)
			}
		}
	}
	return set.list
}

func (c *chunk) addLayers(l *layerCost, n int64) {
	c.params.Add(l.params, n)
	c.saved += unit.Bytes(n) * l.saved
	c.inputs += unit.Bytes(n) * l.input
	c.common(l, n)
}

func (c *chunk) addEnd(l *layerCost) {
	c.ends.Add(l.params, 1)
	c.saved += l.saved
	c.inputs += l.saved
	c.common(l, 1)
}

func (c *chunk) common(l *layerCost, n int64) {
	for d := range c.pass {
		c.pass[d].add(&l.pass[d], float64(n))
	}
	c.working = max(c.working, l.dropped+l.working)
}

// layout is a plan ready to be timed: its chunks by kind, with the collectives
// that ZeRO repeats per micro-batch, and where they lie.
type layout struct {
	shape  *shape
	topo   *topology
	chunks []chunk       // by kind
	hop    [hops]traffic // one boundary crossing, in a node and between nodes
}

// at is the priced chunk c of the pipeline.
func (l *layout) at(c int) *chunk { return &l.chunks[l.topo.of[c]] }

// prepare prices the plan's chunks.
func (e *Evaluator) prepare(p *plan.Plan) layout {
	l := layout{shape: e.shape(p), topo: e.topology(p)}
	l.chunks = e.chunksOf(l.shape, l.topo.parts)
	if p.ZeRO >= 2 {
		e.scratch = append(e.scratch[:0], l.chunks...)
		l.chunks = e.scratch
		for i := range l.chunks {
			e.shardLayers(p, &l.chunks[i])
		}
	}
	if p.PP > 1 {
		l.hop[inside] = e.collective(work.SendRecv, work.AxisPP, 2, 1, float64(l.shape.boundary))
		if e.job.GPUs > e.job.NodeGPUs {
			l.hop[between] = e.collective(work.SendRecv, work.AxisPP, 2, e.job.NodeGPUs, float64(l.shape.boundary))
		}
	}
	return l
}
