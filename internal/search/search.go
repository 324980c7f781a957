package search

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
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

// Count is what became of the candidates.
type Count struct {
	Illegal  [plan.NumCauses]int64
	TooLarge int64 // legal, do not fit
	Pruned   int64 // fit, proved slower than the plans kept
	LaidOut  int64 // fit, laid out by the simulator
}

// Evaluated is the number of legal plans looked at.
func (c *Count) Evaluated() int64 { return c.TooLarge + c.Pruned + c.LaidOut }

// Outcome is a search's answer.
type Outcome struct {
	Plans   []*train.Result // best first, at most Top
	Nearest *train.Result   // the plan that lacks least memory, when nothing fits
	// Example of a rejected plan per legality cause, and the best one that does not fit.
	Examples [plan.NumCauses]*plan.Plan
	Count    Count
	Partial  bool // cancelled: what was found so far
	Elapsed  time.Duration
	misfit   error
	failed   error
}

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
				w.run(s, jobs[i])
				if n := int(done.Add(1)); o.Progress != nil {
					o.Progress(n, len(jobs))
				}
			}
			pl.join(w)
		})
	}
	wg.Wait()
	out, err := pl.finish(ctx, e, o.Top)
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

// join adds a worker's counters.
func (pl *pool) join(w *worker) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	c := &pl.outcome.Count
	for i, n := range w.count.Illegal {
		c.Illegal[i] += n
		if pl.outcome.Examples[i] == nil {
			pl.outcome.Examples[i] = w.examples[i]
		}
	}
	c.TooLarge += w.count.TooLarge
	c.Pruned += w.count.Pruned
	c.LaidOut += w.count.LaidOut
	pl.outcome.failed = cmp.Or(pl.outcome.failed, w.failed)
}

// blamed are the keys that can cause an illegal plan, most specific cause first.
var blamed = []struct {
	cause plan.Cause
	keys  []plan.Key
}{
	{plan.BadShard, []plan.Key{plan.KeyShard}},
	{plan.BadCombination, []plan.Key{plan.KeySP, plan.KeyZeRO, plan.KeyTuning, plan.KeyRank}},
	{plan.BadExperts, []plan.Key{plan.KeyEP, plan.KeyETP}},
	{plan.BadHeads, []plan.Key{plan.KeyTP, plan.KeyCP, plan.KeyCPComm}},
	{plan.BadSchedule, []plan.Key{plan.KeySchedule, plan.KeyVPP}},
	{plan.BadLayers, []plan.Key{plan.KeyPP, plan.KeyVPP}},
	{plan.BadSchedule, []plan.Key{plan.KeyPP}},
	{plan.BadSequence, []plan.Key{plan.KeyCP, plan.KeySP}},
	{plan.BadBatch, nil},
}

// Illegal words why a space without a legal plan has none: a cause that the
// user's own keys explain before one that only searched values met.
func (o *Outcome) Illegal(j *plan.Job, f *plan.Fixed) error {
	for _, b := range blamed {
		for _, k := range b.keys {
			p := o.Examples[b.cause]
			if p != nil && b.cause == plan.BadLayers && p.VPP > 1 && f != nil && !f.Has(plan.KeyVPP) {
				continue // the search's own vpp is too many parts, which says nothing of the pp that was given
			}
			if p != nil && f != nil && f.Has(k) {
				return p.Explain(b.cause, j)
			}
		}
	}
	for c := plan.NumCauses - 1; c > plan.Legal; c-- { // the latest check gets furthest
		if p := o.Examples[c]; p != nil {
			return p.Explain(c, j)
		}
	}
	return o.misfit
}

// finish evaluates the kept plans in full.
func (pl *pool) finish(ctx context.Context, e *train.Evaluator, top int) (*Outcome, error) {
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
