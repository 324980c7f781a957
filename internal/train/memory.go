package train

import (
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// memory finds the rank that needs most and its table.
func (e *Evaluator) memory(p *plan.Plan, l *layout) (worst mem.Parts, rank int) {
	var top unit.Bytes
	for i := range l.topo.ranks {
		r := &l.topo.ranks[i]
		t := rankMemory(p, l, r, (*chunk).activations)
		if n := t.Total(); i == 0 || n > top {
			worst, top, rank = t, n, r.rank
		}
	}
	return worst, rank
}

// rankMemory adds up the chunks of one rank. Activations in flight are counted
// at the mean of the rank's chunks.
func rankMemory(p *plan.Plan, l *layout, r *rankKind, kept func(*chunk) unit.Bytes) mem.Parts {
	in := mem.Rank{Unit: l.shape.widest, Next: l.shape.layer, Axes: axes(p)}
	var saved unit.Bytes
	for _, k := range r.locals {
		c := &l.chunks[k]
		in.Params.Add(c.params, 1)
		in.Ends.Add(c.ends, 1)
		in.Working = max(in.Working, c.working)
		saved += kept(c)
	}
	in.Saved = unit.Capped(float64(saved) * float64(r.held) / float64(len(r.locals)))
	return mem.Of(p, &in)
}

// activations is what a micro-batch holds in the chunk.
func (c *chunk) activations() unit.Bytes { return c.saved }

// axes counts the parallel dimensions that need communicators.
func axes(p *plan.Plan) int {
	n := 0
	for _, d := range [...]int{p.TP, p.CP, p.PP, p.DP, p.EP} {
		if d > 1 {
			n++
		}
	}
	return n
}
