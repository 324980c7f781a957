package train

import (
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Wait is a kind of time that a step spends beside its kernels, on the busiest rank.
type Wait int

// The waits, in the order reports print them. WaitLinks is what a link needs
// beyond the layout: collectives that each hide behind kernels but share the wire.
const (
	WaitTP Wait = iota
	WaitCP
	WaitEP
	WaitDP
	WaitPP
	WaitLinks
	WaitBubble
	WaitOptimizer
	NumWaits
)

var waitNames = [NumWaits]string{"tp", "cp", "ep", "dp", "pp", "links", "bubble", "optimizer"}

// String is the wait's name in reports and JSON.
func (w Wait) String() string { return waitNames[w] }

// waits sums what the passes of the busiest rank wait for, and its anatomy.
// The layout runs n times in a step.
func (r *Result) waits(lay *sched.Layout, l *layout, end *closing, n unit.Seconds) {
	busiest, least := 0, lay.Idle(0)
	for rank := range lay.Ranks {
		if idle := lay.Idle(rank); idle < least {
			busiest, least = rank, idle
		}
	}
	for _, x := range lay.Ranks[busiest] {
		r.passWaits(&x, l)
	}
	r.Waits[WaitBubble] = least
	for w := range r.Waits {
		r.Waits[w] *= n
	}
	r.Waits[WaitDP] += end.wait
	r.Waits[WaitOptimizer] = end.update
	r.Anatomy = anatomy(lay, n)
	r.Anatomy.Optimizer = end.update
}

// passWaits adds the waits of one placed pass. What its length exceeds kernels
// and known waits by is exchange and the wait for routed experts that nothing hid, and
// kernels slowed by the exchange.
func (r *Result) passWaits(x *sched.Placed, l *layout) {
	var known unit.Seconds
	add := func(q *passCost) {
		r.Waits[WaitTP] += q.waits[work.AxisTP]
		r.Waits[WaitCP] += q.waits[work.AxisCP]
		r.Waits[WaitDP] += q.waits[work.AxisDP]
		known += q.steady()
		if x.Pass != sched.FB {
			r.Waits[WaitDP] += q.uncovered()
			known += q.uncovered()
		}
	}
	c := &l.at(x.Chunk).pass
	switch {
	case x.Pass == sched.F:
		add(&c[forward])
		known += r.sent(l, x.Chunk)
	case x.Pass == sched.W:
		add(&c[weight])
	case x.Pass == sched.FB:
		add(&c[forward])
		back := &l.at(x.BackChunk).pass
		add(&back[backward])
		add(&back[weight])
	case !r.Plan.Schedule.Splits():
		both := c.both()
		add(&both)
		known += r.sent(l, x.Chunk-1)
	default:
		add(&c[backward])
		if x.Full {
			add(&c[weight])
		}
		known += r.sent(l, x.Chunk-1)
	}
	if rest := x.End - x.Start - known; rest > 0 && r.Experts {
		r.Waits[WaitEP] += rest
	}
}

// sent adds the wait of a send over boundary i, where ranks wait for their sends.
func (r *Result) sent(l *layout, i int) unit.Seconds {
	if r.Plan.Overlap.PP || i < 0 || i >= len(l.topo.cross) {
		return 0
	}
	t := l.hop[l.topo.cross[i]].estimate
	r.Waits[WaitPP] += t
	return t
}

// Anatomy is the step of the mean pipeline rank by kind of pass, the way
// arXiv:2505.09343 table 4 publishes it: forward, full backward and
// weight-gradient passes that run alone, overlapped pairs, the idle rest and
// the optimizer.
type Anatomy struct {
	Forward, Backward, Weight, Pairs, Bubble, Optimizer unit.Seconds
}

func anatomy(lay *sched.Layout, repeats unit.Seconds) Anatomy {
	var a Anatomy
	n := unit.Seconds(len(lay.Ranks)) / repeats
	for r, passes := range lay.Ranks {
		for _, x := range passes {
			d := (x.End - x.Start) / n
			switch x.Pass {
			case sched.F:
				a.Forward += d
			case sched.B:
				a.Backward += d
			case sched.W:
				a.Weight += d
			case sched.FB:
				a.Pairs += d
			}
		}
		a.Bubble += lay.Idle(r) / n
	}
	return a
}
