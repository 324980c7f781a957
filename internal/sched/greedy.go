package sched

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// greedy decides pass by pass, always for the rank whose clock is behind, with
// what is known by then: inputs that a neighbour has begun to produce.
type greedy struct {
	s *Spec
	strategy
	limit float64 // micro-batches a rank may hold
	share float64 // of one that waits for its W
	ranks []greedyRank
	queue clocks         // ranks that have work and are awake
	woken int            // rank that the last pass woke, or -1
	worst unit.Seconds   // most that any rank has idled
	fEnd  []unit.Seconds // end of F of (rank, micro-batch), m per rank
	bEnd  []unit.Seconds
	delay []unit.Seconds // of the boundary after a rank
	order [][]item
}

type greedyRank struct {
	f, b, w     int          // passes done
	now         unit.Seconds // end of the last pass, or when to look again
	free        unit.Seconds // end of the last pass
	first, idle unit.Seconds // start of the first pass; idle time since
	asleep      bool         // until a neighbour begins a pass
}

var never = unit.Seconds(math.Inf(1))

func newGreedy(s *Spec) *greedy {
	g := &greedy{s: s, limit: float64(s.Kind.limit(s.Stages)), share: s.share(), ranks: make([]greedyRank, s.Stages),
		fEnd: make([]unit.Seconds, s.Stages*s.MicroBatches), bEnd: make([]unit.Seconds, s.Stages*s.MicroBatches),
		delay: make([]unit.Seconds, s.Stages)}
	for i := range s.Stages - 1 {
		g.delay[i] = s.comm(i)
	}
	return g
}

// run schedules all passes; with an order to write to it records them.
func (g *greedy) run(st strategy, order [][]item) {
	g.strategy, g.order = st, order
	clear(g.ranks)
	g.worst = 0
	g.queue.fill(len(g.ranks))
	for left := 3 * g.s.Stages * g.s.MicroBatches; left > 0; {
		r := int(g.queue[0].rank)
		g.woken = -1
		if g.decide(r) {
			left--
		}
		if x := &g.ranks[r]; x.asleep || x.w == g.s.MicroBatches {
			g.queue.drop()
		} else {
			g.queue.set(x.now)
		}
		if g.woken >= 0 {
			g.queue.add(g.woken, g.ranks[g.woken].now)
		}
	}
}

// decide runs one pass on rank r at its clock, or moves the clock to when an
// input arrives; true when a pass was run.
func (g *greedy) decide(r int) bool {
	x := &g.ranks[r]
	arriveF, arriveB := g.arriveF(r), g.arriveB(r)
	room := float64(x.f-x.b)+g.share*float64(x.b-x.w)+1 <= g.limit+1e-9
	if g.holdWarmup && x.b == 0 && arriveF+g.s.Times.F[r] > arriveB {
		arriveF = never // until the first backward is through
	}
	readyF, readyB := arriveF <= x.now && room, arriveB <= x.now
	switch {
	case readyF && (g.forwardFirst || !readyB):
		g.put(r, F, x.f)
		return true
	case readyB:
		g.put(r, B, x.b)
		return true
	}
	next := arriveB
	if room {
		next = min(next, arriveF)
	}
	if x.w < x.b && (arriveF <= x.now || g.fills(r, next-x.now)) { // a forward that waits needs the room
		g.put(r, W, x.w)
		return true
	}
	if next == never {
		x.asleep = true
	} else {
		x.now = next
	}
	return false
}

// fills tells whether a W goes into a gap of the given length.
func (g *greedy) fills(r int, gap unit.Seconds) bool {
	if float64(gap) >= g.fill*float64(g.s.Times.W[r]) {
		return true
	}
	return g.fillWorst && g.worst <= g.ranks[r].idle+gap
}

// arriveF is when the next forward's input is there; never, as far as is known,
// when the rank before has not begun it.
func (g *greedy) arriveF(r int) unit.Seconds {
	x := &g.ranks[r]
	switch {
	case x.f == g.s.MicroBatches:
		return never
	case r == 0:
		return 0
	case g.ranks[r-1].f > x.f:
		return g.fEnd[(r-1)*g.s.MicroBatches+x.f] + g.delay[r-1]
	}
	return never
}

// arriveB is the same for the next backward.
func (g *greedy) arriveB(r int) unit.Seconds {
	x := &g.ranks[r]
	switch {
	case x.b == x.f:
		return never
	case r == len(g.ranks)-1:
		return 0
	case g.ranks[r+1].b > x.b:
		return g.bEnd[(r+1)*g.s.MicroBatches+x.b] + g.delay[r]
	}
	return never
}

// put runs a pass on rank r at its clock and wakes the rank that waits for it.
func (g *greedy) put(r int, pass Pass, mb int) {
	x := &g.ranks[r]
	length, wake := unit.Seconds(0), -1
	switch pass {
	case F:
		if x.f == 0 {
			x.first, x.free = x.now, x.now
		}
		x.f++
		length, wake = g.s.Times.F[r], r+1
		g.fEnd[r*g.s.MicroBatches+mb] = x.now + length
	case B:
		x.b++
		length, wake = g.s.Times.B[r], r-1
		g.bEnd[r*g.s.MicroBatches+mb] = x.now + length
	case W:
		x.w++
		length = g.s.Times.W[r]
	}
	x.idle += x.now - x.free
	g.worst = max(g.worst, x.idle)
	x.now += length
	x.free = x.now
	if g.order != nil {
		g.order[r] = append(g.order[r], item{pass: pass, mb: int32(mb)})
	}
	if wake >= 0 && wake < len(g.ranks) && g.ranks[wake].asleep {
		y := &g.ranks[wake]
		y.asleep, y.now = false, max(y.free, x.now-length)
		g.woken = wake
	}
}

// step is the longest time a rank takes from its first start to its last end.
func (g *greedy) step() unit.Seconds {
	var step unit.Seconds
	for i := range g.ranks {
		step = max(step, g.ranks[i].free-g.ranks[i].first)
	}
	return step
}
