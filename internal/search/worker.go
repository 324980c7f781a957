package search

import (
	"context"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
)

// worker evaluates candidates with its own caches and counters.
type worker struct {
	e          *train.Evaluator
	pool       *pool
	ctx        context.Context
	exhaustive bool
	count      Count
	looked     []looked
	examples   [plan.NumCauses]example
	space      *Space
	job        int     // index of the job underway
	failed     failure // the first plan that could not be laid out
	lean       train.Lean
}

// looked are plans that the threshold of their time did not prune; the last
// threshold, which no order of the workers changes, decides how they count.
type looked struct {
	bound float64 // of their step, seconds
	n     int64
	fit   bool
}

// example is an illegal plan of a job.
type example struct {
	plan *plan.Plan
	job  int
}

// failure is why a plan of a job could not be laid out.
type failure struct {
	err error
	job int
}

func (w *worker) run(s *Space, job int, o outer) {
	w.space, w.job, w.lean = s, job, s.leanest()
	s.walk(w.e.Job(), o, &visitor{mode: w.mode, larger: w.larger, illegal: w.illegal})
}

// mode looks at all states of a mode at once where it can: when the parts of
// the leanest ones do not fit, no state does, and when the fastest parts are
// slower than the plans kept, so is every state.
func (w *worker) mode(p *plan.Plan) bool {
	if w.ctx.Err() != nil {
		return true
	}
	bound := 0.0
	if !w.exhaustive {
		if bound = w.busy(p); bound > w.pool.slowest() {
			w.count.Pruned += w.space.stateCount(p)
			return true
		}
		if w.e.Leanest(p, &w.lean) > w.e.MemoryLimit() {
			w.saw(bound, w.space.stateCount(p), false)
			return false
		}
		if bound = max(bound, float64(w.e.Fastest(p))); bound > w.pool.slowest() {
			w.count.Pruned += w.space.stateCount(p)
			return true
		}
	}
	w.space.states(*p, func(p *plan.Plan) { w.legal(p, bound) })
	return true
}

// rounding keeps a bound that is met exactly below a sum in another order.
const rounding = 1e-9

// busy is the cheapest bound of the step of every state of a mode, seconds.
func (w *worker) busy(p *plan.Plan) float64 { return float64(w.e.Busy(p)) * (1 - rounding) }

// larger counts a micro-batch above one that does not fit as mode would have,
// had the smaller one been pruned.
func (w *worker) larger(p *plan.Plan) {
	bound := 0.0
	if !w.exhaustive {
		bound = w.busy(p)
	}
	w.saw(bound, w.space.stateCount(p), false)
}

// saw notes plans whose step is at least bound seconds.
func (w *worker) saw(bound float64, n int64, fit bool) {
	if last := len(w.looked) - 1; last >= 0 && w.looked[last].bound == bound && w.looked[last].fit == fit {
		w.looked[last].n += n
		return
	}
	w.looked = append(w.looked, looked{bound, n, fit})
}

func (w *worker) illegal(p *plan.Plan, c plan.Cause) {
	w.count.Illegal[c]++
	if w.examples[c].plan == nil {
		q := *p
		w.examples[c] = example{&q, w.job}
	}
}

// legal looks at one state of a mode whose step is at least bound seconds.
func (w *worker) legal(p *plan.Plan, bound float64) {
	q := w.e.Quick(p)
	if !q.Fits {
		w.saw(bound, 1, false)
		return
	}
	if !w.exhaustive {
		bound = max(bound, float64(q.Bound))
		if bound > w.pool.slowest() {
			w.count.Pruned++
			return
		}
	}
	w.saw(bound, 1, true)
	step, err := w.e.Step(p)
	if err != nil {
		if w.failed.err == nil {
			w.failed = failure{err, w.job}
		}
		return
	}
	w.pool.offer(p, step)
}
