package sched

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// splitBound is for one chunk per rank with split backwards: zb-h1 and zb-h2,
// whose order fixes how much runs before the first backward and after the last
// forward, and zb-1p and zb-2p, whose memory limit does.
func splitBound(s *Spec) unit.Seconds {
	var bound unit.Seconds
	c := newChain(s, true)
	m := unit.Seconds(s.MicroBatches)
	warm := func(r int) int { return s.Kind.limit(s.Stages) }
	switch s.Kind {
	case ZBH1:
		warm = func(r int) int { return s.Stages - r }
	case ZBH2:
		warm = func(r int) int { return 2*(s.Stages-r) - 1 }
	}
	for i := range s.Stages {
		f, b, w := s.Times.F[i], s.Times.B[i], s.Times.W[i]
		k := unit.Seconds(min(warm(i), s.MicroBatches))
		after, late := s.afterLast(i)
		wait := max(0, c.turn-k*f)           // no more forwards fit before the first backward
		drain := max(0, c.turn-f-after)      // nor other work after the start of the last forward
		span := m*(f+b+w) + max(wait, drain) // the rank itself, first start to last end
		if s.MicroBatches > warm(i) {        // the two waits lie apart
			span = m*(f+b+w) + wait + drain
		}
		bound = max(bound, span)
		// From rank 0's first start down to this rank, and back to its last end.
		y := wait + m*(f+b) + (m-late)*w
		if !s.Kind.auto() {
			y = max(y, c.loops(i, warm))
		} else if k := warm(i); s.MicroBatches > k {
			y = max(y, unit.Seconds((s.MicroBatches-1)/k+1)*(c.turn+b))
		}
		bound = max(bound, c.head+y+c.tail+s.Times.W[0])
		c.next(i)
	}
	return bound
}

// afterLast gives, for rank i, the most work besides the last micro-batch's that
// can be left when its forward starts, and the most W that can be left after
// the last B.
func (s *Spec) afterLast(i int) (work, late unit.Seconds) {
	b, w, m := s.Times.B[i], s.Times.W[i], unit.Seconds(s.MicroBatches)
	switch s.Kind {
	case ZBH1, ZBH2:
		warm, put := s.Stages-i, i
		if s.Kind == ZBH2 {
			warm, put = 2*warm-1, 2*i
		}
		held := unit.Seconds(min(warm-1, s.MicroBatches-1))
		half := min(unit.Seconds(put), m-1-held)
		return held*(b+w) + half*w, min(m, unit.Seconds(put+1))
	}
	// Others held weigh limit - 1 at most: whole ones b + w, half ones w / share.
	room := float64(s.Kind.limit(s.Stages)-1) + 1e-9 // the scheduler's own slack
	half := math.Floor(room / s.share())
	work = min(unit.Seconds(room)*max(b+w, w/unit.Seconds(s.share())), (m-1)*(b+w))
	return work, min(m, unit.Seconds(half+1))
}
