package infer

import (
	"math/bits"

	"github.com/ridgeline/ridgeline/internal/work"
)

// A curve tabulates the cost of operations that depend on a number of tokens
// alone. It is exact up to `fine` tokens; beyond, `steps` points per doubling are
// priced and what lies between is interpolated, which keeps every order that
// holds at the points. Points are priced when first needed, so an engine that
// answers one question prices little and one that simulates allocates nothing.
type curve struct {
	list   func(dst []work.Op, n int64) []work.Op
	blocks [octaves + 1][]*sums // fine points, then one block per doubling; nil until needed
}

const (
	fineBits = 6
	fine     = 1 << fineBits
	stepBits = 4
	steps    = 1 << stepBits
	octaves  = 63 - fineBits
)

func newCurve(list func(dst []work.Op, n int64) []work.Op) *curve { return &curve{list: list} }

// slot is the block and the place in it of the last point at or before n, and the
// tokens of it and of the next one.
func slot(n int64) (block, at int, low, high int64) {
	if n < fine {
		return 0, int(n), n, n + 1
	}
	octave := bits.Len64(uint64(n)) - 1
	shift := octave - stepBits
	j := n>>shift - steps
	low = (j + steps) << shift
	return octave - fineBits + 1, int(j), low, low + 1<<shift
}

// at adds w times the cost of n tokens to s.
func (e *Engine) at(s *sums, c *curve, n int64, w float64) {
	if n <= 0 || w == 0 {
		return
	}
	block, i, low, high := slot(n)
	a := e.point(c, block, i, low)
	if n == low {
		s.add(a, w)
		return
	}
	block, i, _, _ = slot(high)
	b := e.point(c, block, i, high)
	x := float64(n-low) / float64(high-low)
	s.add(a, w*(1-x))
	s.add(b, w*x)
}

// point prices a point, n tokens, once.
func (e *Engine) point(c *curve, block, i int, n int64) *sums {
	if c.blocks[block] == nil {
		size := steps
		if block == 0 {
			size = fine
		}
		c.blocks[block] = make([]*sums, size)
	}
	if p := c.blocks[block][i]; p != nil {
		return p
	}
	p := &sums{}
	e.scratch = c.list(e.scratch[:0], n)
	for k := range e.scratch {
		e.op(p, &e.scratch[k])
	}
	c.blocks[block][i] = p
	return p
}

// tabulate makes the curves of every kind of layer and of the ends.
func (e *Engine) tabulate() {
	w := &e.ops
	low := *w
	low.LowLatency = true
	for i := range e.kinds {
		k := &e.kinds[i]
		l := k.layer
		k.shared[0] = newCurve(func(dst []work.Op, n int64) []work.Op { return w.FFN(w.Attention(dst, l, n), l, n) })
		k.shared[1] = k.shared[0]
		if e.setup.Plan.Exchange() && l.FFN.MoE() {
			k.shared[1] = newCurve(func(dst []work.Op, n int64) []work.Op { return low.FFN(low.Attention(dst, l, n), l, n) })
		}
		k.experts = newCurve(func(dst []work.Op, n int64) []work.Op {
			return w.Expert(dst, &l.FFN, e.experts(&l.FFN, float64(n)))
		})
		k.absorb = newCurve(func(dst []work.Op, n int64) []work.Op { return w.Absorb(dst, l, n) })
		k.expand = newCurve(func(dst []work.Op, n int64) []work.Op { return w.Expand(dst, l, n) })
	}
	e.head = newCurve(w.Head)
	e.embed = newCurve(w.Embedding)
}

// imbalance is the busiest expert rank over the mean when n tokens are routed.
func (e *Engine) imbalance(n float64) float64 {
	if e.setup.Loads != nil {
		return e.setup.Loads.At(n)
	}
	return e.setup.Imbalance
}
