package search

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Options steer a search; zero values are the defaults.
type Options struct {
	Top        int  // plans kept, 0 = 5
	Workers    int  // goroutines, 0 = all cores
	Exhaustive bool // lay out every plan that fits instead of pruning by the bound
	Progress   func(done, all int)
}

// Count is what became of the candidates, whichever worker looked at them when.
type Count struct {
	Illegal  [plan.NumCauses]int64
	TooLarge int64 // legal, do not fit
	Pruned   int64 // proved slower than the plans kept
	LaidOut  int64 // fit, and no bound proved them slower
}

// Evaluated is the number of legal plans looked at.
func (c *Count) Evaluated() int64 { return c.TooLarge + c.Pruned + c.LaidOut }

// Outcome is a search's answer.
type Outcome struct {
	Plans   []*train.Result // best first, at most Top
	Nearest *train.Result   // the plan that lacks least memory, when nothing fits
	// Example of a rejected plan per legality cause: the walk's first.
	Examples [plan.NumCauses]*plan.Plan
	Count    Count
	Partial  bool // cancelled: what was found so far
	Elapsed  time.Duration
	misfit   error
	failed   error
}

// Run searches space.
func Run(ctx context.Context, e *train.Evaluator, s *Space, o Options) (*Outcome, error) {
	start := time.Now()
	if o.Top == 0 {
		o.Top = 5
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if p, ok := s.only(e.Job()); ok && ctx.Err() == nil {
		out, err := evaluated(e, p)
		if err == nil {
			out.Elapsed = time.Since(start)
			if o.Progress != nil {
				o.Progress(1, 1)
			}
		}
		return out, err
	}
	pl := &pool{top: spare * o.Top}
	pl.threshold.Store(math.Float64bits(math.Inf(1)))
	jobs := s.outers(e.Job().GPUs)
	if len(jobs) == 0 {
		pl.outcome.misfit = s.misfit(e.Job())
	}
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range min(o.Workers, max(len(jobs), 1)) {
		wg.Go(func() {
			w := &worker{e: e.Clone(), pool: pl, exhaustive: o.Exhaustive, ctx: ctx}
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					break
				}
				w.run(s, i, jobs[i])
				if n := int(done.Add(1)); o.Progress != nil {
					o.Progress(n, len(jobs))
				}
			}
			pl.join(w)
		})
	}
	wg.Wait()
	out, err := pl.finish(ctx, e, o.Top)
	if out == nil {
		return nil, err
	}
	if err == nil && len(out.Plans) == 0 && out.Count.TooLarge > 0 && ctx.Err() == nil {
		err = out.nearest(e, s, jobs)
	}
	out.Elapsed = time.Since(start)
	return out, err
}

// nearest finds the plan that needs least memory, for the case that none fits.
func (o *Outcome) nearest(e *train.Evaluator, s *Space, jobs []outer) error {
	lean := s.leanest()
	var best plan.Plan
	least := unit.Bytes(math.MaxInt64)
	look := &visitor{illegal: func(*plan.Plan, plan.Cause) {}, larger: func(*plan.Plan) {}}
	look.mode = func(p *plan.Plan) bool {
		if e.Leanest(p, &lean) >= least {
			return false
		}
		s.states(*p, func(p *plan.Plan) {
			if q := e.Quick(p); q.Memory < least {
				best, least = *p, q.Memory
			}
		})
		return true
	}
	for _, job := range jobs {
		s.walk(e.Job(), job, look)
	}
	r, err := e.Evaluate(&best)
	o.Nearest = r
	return err
}
