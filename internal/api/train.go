// Package api has one function per question: a request with resolved inputs in,
// an answer with everything a face may show out. Command line and web page call
// it alike; it formats nothing.
package api

import (
	"context"
	"fmt"
	"time"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/search"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// TrainRequest asks how to train a model on a cluster.
type TrainRequest struct {
	Model            *model.Model
	Cluster          *hw.Cluster
	Fixed            *plan.Fixed // keys that the user gave; none: search everything
	GlobalBatch, Seq int         // sequences per step, tokens per sequence
	MTP              int         // MTP modules trained along
	Precision        plan.Precision
	MemoryLimit      float64 // usable share of device memory, 0 = the default
	Terms            train.Terms
	Top              int
	Exhaustive       bool
	// Alone answers for the plan that Fixed leaves open without comparing it with
	// others: quick enough to follow a slider.
	Alone bool
	// Against is what the plan is compared with; nil: the best of the whole space.
	Against *plan.Fixed
	// Sweep is a figure to turn, to see which of the listed plans wins where.
	Sweep    *advise.Knob
	Progress func(done, all int)
}

// TrainAnswer is everything there is to say.
type TrainAnswer struct {
	Request *TrainRequest
	Outcome *search.Outcome
	Best    *train.Result // Plans[0], or the plan that came nearest with Fits false
	Plans   []*train.Result
	// Overall is the best plan of the whole space, when Fixed narrowed it; WhyNot
	// says what the named plan lacks against it.
	Overall *train.Result
	WhyNot  string
	// Sharding of the best plan, when it is ZeRO-3: each algorithm's links.
	Sharding     []train.Algorithm
	Alternatives []advise.Alternative
	Precisions   []advise.ByPrecision
	BreakEvens   []advise.BreakEven // of Best
	FSDP         *train.Result      // the plain-FSDP plan that FSDPEvens speak of
	FSDPEvens    []advise.BreakEven
	FSDPSharding []train.Algorithm
	Published    *catalog.PublishedRun // a published run of the same job, for comparison
	Budget       train.Budget
	Warnings     []string
	Assumptions  []string
	Elapsed      time.Duration

	// Sweep is the listed plans while the request's knob is turned.
	Sweep *advise.Sweep

	asked *advise.Question // as Best was evaluated
}

// Train searches the plans that the request leaves open and explains the
// answer. Errors are bad input. Nothing feasible is no error: Best.Fits is false.
func Train(ctx context.Context, r *TrainRequest) (*TrainAnswer, error) {
	start := time.Now()
	if r.Fixed == nil {
		r.Fixed = &plan.Fixed{}
	}
	q, err := question(r)
	if err != nil {
		return nil, err
	}
	e, err := q.Evaluator()
	if err != nil {
		return nil, err
	}
	a := &TrainAnswer{Request: r, Assumptions: e.Machine().Assumptions()}
	if err := a.narrow(ctx, q); err != nil {
		return nil, err
	}
	if err := a.widen(ctx, q); err != nil {
		return nil, err
	}
	if err := a.explain(ctx, q); err != nil {
		return nil, err
	}
	if a.Budget, err = a.Best.Budget(r.Terms); err != nil {
		return nil, err
	}
	if known, err := catalog.Model(r.Model.Name); err == nil && known.Params() == r.Model.Params() { // and not a file of that name
		a.Published = catalog.FindPublished(known.Name, r.Cluster.Device.Name, r.Cluster.GPUs, r.GlobalBatch, r.Seq)
	}
	a.Warnings = append(a.Warnings, a.Best.Warnings...)
	a.Elapsed = time.Since(start)
	return a, nil
}

// limits of a request beyond which a size is a mistake.
const (
	maxBatch = 1 << 24
	maxSeq   = 1 << 24

	maxStepTokens = 1 << 36 // per step
)

// question checks the request's own figures.
func question(r *TrainRequest) (*advise.Question, error) {
	switch {
	case r.GlobalBatch < 1 || r.GlobalBatch > maxBatch:
		return nil, fmt.Errorf("--global-batch %d: give 1 to %d sequences", r.GlobalBatch, maxBatch)
	case r.Seq < 1 || r.Seq > maxSeq:
		return nil, fmt.Errorf("--seq %d: give 1 to %d tokens", r.Seq, maxSeq)
	case float64(r.GlobalBatch)*float64(r.Seq) > maxStepTokens:
		return nil, fmt.Errorf("--global-batch %d x --seq %d: a step may have at most %.3g tokens", r.GlobalBatch, r.Seq, float64(maxStepTokens))
	case r.MTP < 0 || r.MTP > len(r.Model.MTP):
		return nil, fmt.Errorf("--mtp %d: %s has %d MTP modules", r.MTP, r.Model.Name, len(r.Model.MTP))
	case r.MemoryLimit < 0 || r.MemoryLimit > 1:
		return nil, fmt.Errorf("--memory-limit %g: give a share of device memory from 0 to 1", r.MemoryLimit)
	case r.Terms.Tokens < 0 || r.Terms.Price < 0:
		return nil, fmt.Errorf("tokens and price cannot be negative")
	}
	if d := r.Cluster.Device; r.Fixed.Plan.OffloadOptim && !d.HostLink().Known() {
		return nil, fmt.Errorf("offload=optimizer: no host link rate is known for %s: set host_link_gb_per_s of a cluster file's peak", d.Name)
	}
	j := plan.NewJob(r.Model, int(r.Cluster.GPUs), int(r.Cluster.Node.GPUs), r.GlobalBatch, r.Seq, r.MTP)
	return &advise.Question{Job: j, Cluster: r.Cluster, Precision: r.Precision, Limit: r.MemoryLimit,
		Options: search.Options{Top: r.Top, Exhaustive: r.Exhaustive, Progress: r.Progress}}, nil
}

// narrow searches the space that the request leaves open.
func (a *TrainAnswer) narrow(ctx context.Context, q *advise.Question) error {
	fixed := a.Request.Fixed
	asked, note := q.Padded(fixed)
	out, err := asked.Search(ctx, fixed)
	host := a.Request.Cluster.Device.HostLink().Known()
	if err == nil && out.Nearest != nil && host && !fixed.Has(plan.KeyOffload) {
		out, err = a.offload(ctx, asked, out)
	}
	if err != nil {
		return err
	}
	a.asked, a.Outcome, a.Plans = asked, out, out.Plans
	switch {
	case len(out.Plans) > 0:
		a.Best = out.Plans[0]
	case out.Nearest != nil:
		a.Best = out.Nearest
	case out.Partial:
		return fmt.Errorf("cancelled before any plan was found")
	default:
		return out.Illegal(asked.Job, fixed)
	}
	if note != "" {
		a.Warnings = append(a.Warnings, note)
	}
	return nil
}

// offload tries optimizer states in host memory where no plan fits without.
func (a *TrainAnswer) offload(ctx context.Context, q *advise.Question, out *search.Outcome) (*search.Outcome, error) {
	fixed, err := a.Request.Fixed.With(plan.KeyOffload, "optimizer")
	if err != nil {
		return nil, err
	}
	moved, err := q.Search(ctx, fixed)
	if err != nil || len(moved.Plans) == 0 {
		return out, err
	}
	a.Warnings = append(a.Warnings, "nothing fits with the optimizer states on the device: these plans keep them in host memory")
	return moved, nil
}

// widen searches the whole space where the user narrowed it, or what the request
// names, for comparison.
func (a *TrainAnswer) widen(ctx context.Context, q *advise.Question) error {
	fixed, against := a.Request.Fixed, a.Request.Against
	if ctx.Err() != nil || against == nil && (a.Request.Alone || !fixed.Any()) {
		return nil
	}
	if against == nil {
		against = fixed.Free()
	}
	return a.compare(ctx, q, against)
}

// compare says what the best plan lacks against the best that fixed leaves open.
func (a *TrainAnswer) compare(ctx context.Context, q *advise.Question, fixed *plan.Fixed) error {
	whole, err := q.Best(ctx, fixed)
	if err != nil || len(whole.Plans) == 0 {
		return err
	}
	a.Overall = whole.Plans[0]
	a.WhyNot = advise.Reason(a.Best, a.Overall)
	return nil
}

// explain adds what stands beside the best plan.
func (a *TrainAnswer) explain(ctx context.Context, q *advise.Question) error {
	e, err := a.asked.Evaluator()
	if err != nil {
		return err
	}
	a.Sharding = e.Sharding(&a.Best.Plan)
	if ctx.Err() != nil {
		return nil // cancelled: what was found stands
	}
	reference := a.Best
	if a.Overall != nil {
		reference = a.Overall
	}
	if !reference.Fits {
		reference = nil
	}
	if !a.Request.Alone {
		if a.Alternatives, err = q.Alternatives(ctx, reference, a.Request.Fixed); err != nil {
			return err
		}
	}
	if a.Precisions, err = a.asked.Compare(&a.Best.Plan); err != nil {
		return err
	}
	if a.BreakEvens, err = a.asked.Flips(&a.Best.Plan); err != nil {
		return err
	}
	if k := a.Request.Sweep; k != nil && len(a.Plans) > 0 {
		plans := make([]plan.Plan, min(len(a.Plans), mostPlans))
		for i := range plans {
			plans[i] = a.Plans[i].Plan
		}
		if a.Sweep, err = a.asked.Sweep(ctx, plans, *k); err != nil {
			return err
		}
	}
	return a.explainFSDP(ctx)
}

// explainFSDP says where plain FSDP would turn compute-bound.
func (a *TrainAnswer) explainFSDP(ctx context.Context) error {
	for i := range a.Alternatives {
		x := &a.Alternatives[i]
		if x.Name != advise.PlainFSDP || x.Plan == nil || !x.Plan.LinkBound() {
			continue
		}
		q := x.Asked()
		e, err := q.Evaluator()
		if err != nil {
			return err
		}
		a.FSDP = x.Plan
		a.FSDPSharding = e.Sharding(&x.Plan.Plan)
		evens, err := q.Flips(&x.Plan.Plan)
		if err != nil {
			return err
		}
		tokens, err := q.FlipTokens(ctx, &x.Plan.Plan)
		if err != nil {
			return err
		}
		a.FSDPEvens = append(evens, tokens)
	}
	return nil
}

// NearestNeeds words what the plan that came nearest lacks.
func (a *TrainAnswer) NearestNeeds() string {
	return fmt.Sprintf("%s of %s usable (%s)", unit.FormatGB(a.Best.Memory.Total()), unit.FormatGB(a.Best.Limit), a.Best.Plan.String())
}

// Layout lays the best plan's step out in time, for traces.
func (a *TrainAnswer) Layout() (*sched.Layout, error) {
	e, err := a.asked.Evaluator()
	if err != nil {
		return nil, err
	}
	return e.Layout(&a.Best.Plan)
}

// ExplainTrain is the table of `explain train`: the best plan that the request
// leaves open, and each of its operations on one rank for one micro-batch.
func ExplainTrain(ctx context.Context, r *TrainRequest) (*TrainAnswer, []train.Row, error) {
	a, e, err := Narrow(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	return a, e.Explain(&a.Best.Plan), nil
}

// Narrow is the best plan that the request leaves open, and its evaluator, without
// anything that explains it. Errors are bad input; Best.Fits is false where nothing fits.
func Narrow(ctx context.Context, r *TrainRequest) (*TrainAnswer, *train.Evaluator, error) {
	q, err := question(r)
	if err != nil {
		return nil, nil, err
	}
	a := &TrainAnswer{Request: r}
	if err := a.narrow(ctx, q); err != nil {
		return nil, nil, err
	}
	e, err := a.asked.Evaluator()
	return a, e, err
}

// Explain words one of the outcome's illegal causes with its example plan.
func (a *TrainAnswer) Explain(c plan.Cause) string {
	return a.Outcome.Examples[c].Explain(c, a.asked.Job).Error()
}
