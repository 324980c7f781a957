package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// candidate is a plan in the running.
type candidate struct {
	plan plan.Plan
	step unit.Seconds
}

// pool is shared by the workers: the best plans, and the step that a new plan
// has to beat.
type pool struct {
	mu        sync.Mutex
	top       int
	best      []candidate
	threshold atomic.Uint64 // float64 bits of the slowest kept step
	outcome   Outcome
	looked    [][]looked // of each worker
	examples  [plan.NumCauses]example
	failed    failure
}

// slowest is the step of the slowest plan kept once there are enough of them.
func (pl *pool) slowest() float64 { return math.Float64frombits(pl.threshold.Load()) }

// offer keeps a plan if it is among the best; equal steps are ordered by their
// text so that the answer does not depend on the workers.
func (pl *pool) offer(p *plan.Plan, step unit.Seconds) {
	if float64(step) > pl.slowest() {
		return
	}
	pl.mu.Lock()
	defer pl.mu.Unlock()
	c := candidate{*p, step}
	i, _ := slices.BinarySearchFunc(pl.best, c, compare)
	pl.best = slices.Insert(pl.best, i, c)
	if len(pl.best) > pl.top {
		pl.best = pl.best[:pl.top]
	}
	if len(pl.best) == pl.top {
		pl.threshold.Store(math.Float64bits(float64(pl.best[pl.top-1].step)))
	}
}

func compare(a, b candidate) int {
	if c := cmp.Compare(a.step, b.step); c != 0 {
		return c
	}
	return cmp.Compare(a.plan.String(), b.plan.String())
}

// join adds what a worker counted and met; of examples and failures the first job's stay,
// which no order of the workers changes.
func (pl *pool) join(w *worker) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	c := &pl.outcome.Count
	for i, n := range w.count.Illegal {
		c.Illegal[i] += n
		if e := w.examples[i]; e.plan != nil && (pl.examples[i].plan == nil || e.job < pl.examples[i].job) {
			pl.examples[i] = e
		}
	}
	c.Pruned += w.count.Pruned
	pl.looked = append(pl.looked, w.looked)
	if f := w.failed; f.err != nil && (pl.failed.err == nil || f.job < pl.failed.job) {
		pl.failed = f
	}
}

// settle counts what was looked at by the last threshold: which threshold a plan met
// underway depends on the workers, and the ones that it passed were no tighter.
func (pl *pool) settle() {
	last, c := pl.slowest(), &pl.outcome.Count
	for _, list := range pl.looked {
		for _, l := range list {
			switch {
			case l.bound > last:
				c.Pruned += l.n
			case l.fit:
				c.LaidOut += l.n
			default:
				c.TooLarge += l.n
			}
		}
	}
	for i, e := range pl.examples {
		pl.outcome.Examples[i] = e.plan
	}
	pl.outcome.failed = pl.failed.err
}

// finish evaluates the kept plans in full.
func (pl *pool) finish(ctx context.Context, e *train.Evaluator, top int) (*Outcome, error) {
	pl.settle()
	out := &pl.outcome
	out.Partial = ctx.Err() != nil
	if len(pl.best) == 0 && out.failed != nil {
		return nil, out.failed
	}
	preferSimple(pl.best)
	for i := range min(top, len(pl.best)) {
		r, err := e.Evaluate(&pl.best[i].plan)
		if err != nil {
			return nil, err
		}
		out.Plans = append(out.Plans, r)
	}
	return out, nil
}
