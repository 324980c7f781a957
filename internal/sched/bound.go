package sched

import "github.com/ridgeline/ridgeline/internal/unit"

// roundingSlack keeps a bound that is met exactly in real numbers below the
// simulated sum, whose longest chain adds fewer than 1e6 terms of relative
// error 2^-53.
const roundingSlack = 1e-10

// LowerBound is a time that no layout of s can undercut, for a search that wants
// to skip the layout: proved from the order of each rank, in time independent
// of the number of micro-batches and without allocation. It is the makespan
// itself for gpipe and, without communication and with equal stages, for 1f1b,
// interleaved, zb-h1 and zb-h2. s must be valid.
func LowerBound(s *Spec) unit.Seconds {
	var b unit.Seconds
	switch s.Kind {
	case GPipe:
		b = gpipeBound(s)
	case Interleaved:
		b = interleavedBound(s)
	case ZBV:
		b = zbvBound(s)
	case DualPipe, DualPipeV:
		b = dualBound(s)
	case OneFOneB:
		b = oneFOneBBound(s)
	default:
		b = splitBound(s)
	}
	return b * (1 - roundingSlack)
}

// gpipeBound is exact: m equal jobs flow through the stages forwards, then
// backwards, each time held up by the slowest stage.
func gpipeBound(s *Spec) unit.Seconds {
	var sum, f, b unit.Seconds
	for c := range s.Times.F {
		full := s.Times.B[c] + s.Times.W[c]
		sum += s.Times.F[c] + full
		if c > 0 {
			sum += 2 * s.comm(c-1)
		}
		f, b = max(f, s.Times.F[c]), max(b, full)
	}
	return sum + unit.Seconds(s.MicroBatches-1)*(f+b)
}

// chain walks the ranks of a pipeline with one chunk each and keeps, for rank i,
// the sums every bound starts from.
type chain struct {
	head  unit.Seconds // first forward's arrival at rank i
	turn  unit.Seconds // from the start of a forward on i to its backward's earliest start
	tail  unit.Seconds // from the end of the last backward on i to that on rank 0
	split bool         // B without W
	s     *Spec
}

func newChain(s *Spec, split bool) chain {
	c := chain{split: split, s: s}
	for i := s.Stages - 1; i > 0; i-- {
		c.turn += s.Times.F[i] + c.back(i) + 2*s.comm(i-1)
	}
	c.turn += s.Times.F[0]
	return c
}

// back is the length of a B.
func (c *chain) back(i int) unit.Seconds {
	if c.split {
		return c.s.Times.B[i]
	}
	return c.s.Times.B[i] + c.s.Times.W[i]
}

// next moves from rank i to i + 1.
func (c *chain) next(i int) {
	if i+1 == c.s.Stages {
		return
	}
	f, b, d := c.s.Times.F[i], c.back(i), c.s.comm(i)
	c.head += f + d
	c.tail += b + d
	c.turn -= f + c.back(i+1) + 2*d
}

// oneFOneBBound takes, for every rank, the forced waits before its first
// backward and after its last forward, and the cycles of loops.
func oneFOneBBound(s *Spec) unit.Seconds {
	var bound unit.Seconds
	c := newChain(s, false)
	m := unit.Seconds(s.MicroBatches)
	for i := range s.Stages {
		f, b := s.Times.F[i], c.back(i)
		var x unit.Seconds
		if warm := s.Stages - i; s.MicroBatches > warm {
			k := unit.Seconds(warm)
			x = max(c.turn, k*f) + (m-k)*b + (m-k-1)*f + max(c.turn+b, f+k*b)
		} else {
			x = max(max(c.turn, m*f)+m*b, (m-1)*f+c.turn+b)
		}
		x = max(x, c.loops(i, func(r int) int { return s.Stages - r }))
		bound = max(bound, c.head+x+c.tail)
		c.next(i)
	}
	return bound
}

// loops bounds the time from the first forward of rank i to its last backward by
// the loops of the order: a forward goes down to rank j, whose next pass is the
// backward warm(j) - 1 earlier, which comes back up to i and lets in the
// forward warm(i) later. A loop takes the sum of its passes and delays and
// moves on warm(i) - warm(j) + 1 micro-batches.
func (c *chain) loops(i int, warm func(rank int) int) unit.Seconds {
	var best, loop unit.Seconds
	f, b := c.s.Times.F[i], c.back(i)
	for j := i; j < c.s.Stages; j++ {
		loop += c.s.Times.F[j] + c.back(j)
		if j > i {
			loop += 2 * c.s.comm(j-1)
		}
		before := warm(j) - 1 // forwards on i before the first loop
		left := c.s.MicroBatches - 1 - before
		if left < 0 {
			continue
		}
		advance := warm(i) - warm(j) + 1
		n := left / advance
		x := unit.Seconds(before)*f + unit.Seconds(n)*loop
		rest := unit.Seconds(left - n*advance)
		if n > 0 {
			x += rest * (f + b)
		} else {
			x += rest * f
		}
		best = max(best, x)
	}
	return best + c.turn + b
}
