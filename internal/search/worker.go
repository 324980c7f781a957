package search

import (
	"cmp"
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
	examples   [plan.NumCauses]*plan.Plan
	space      *Space
	failed     error // the first plan that could not be laid out
	lean       train.Lean
}

func (w *worker) run(s *Space, o outer) {
	w.space, w.lean = s, s.leanest()
	s.walk(w.e.Job(), o, &visitor{mode: w.mode, larger: w.larger, illegal: w.illegal})
}

// mode looks at all states of a mode at once where it can: when the parts of
// the leanest ones do not fit, no state does, and when the fastest parts are
// slower than the plans kept, so is every state.
func (w *worker) mode(p *plan.Plan) bool {
	switch {
	case w.ctx.Err() != nil:
		return true
	case w.exhaustive:
	case float64(w.e.Busy(p))*(1-rounding) > w.pool.slowest():
		w.count.Pruned += w.space.stateCount(p)
		return true
	case w.e.Leanest(p, &w.lean) > w.e.MemoryLimit():
		w.larger(p)
		return false
	case float64(w.e.Fastest(p)) > w.pool.slowest():
		w.count.Pruned += w.space.stateCount(p)
		return true
	}
	w.space.states(*p, w.legal)
	return true
}

// rounding keeps a bound that is met exactly below a sum in another order.
const rounding = 1e-9

func (w *worker) larger(p *plan.Plan) { w.count.TooLarge += w.space.stateCount(p) }

func (w *worker) illegal(p *plan.Plan, c plan.Cause) {
	w.count.Illegal[c]++
	if w.examples[c] == nil {
		q := *p
		w.examples[c] = &q
	}
}

func (w *worker) legal(p *plan.Plan) {
	q := w.e.Quick(p)
	switch {
	case !q.Fits:
		w.count.TooLarge++
	case !w.exhaustive && float64(q.Bound) > w.pool.slowest():
		w.count.Pruned++
	default:
		w.count.LaidOut++
		step, err := w.e.Step(p)
		if err != nil {
			w.failed = cmp.Or(w.failed, err)
			return
		}
		w.pool.offer(p, step)
	}
}
