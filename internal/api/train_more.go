package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// TrainMoments lays the best plan that the request leaves open out in time and
// space.
func TrainMoments(ctx context.Context, r *TrainRequest) (*TrainAnswer, *train.Moments, error) {
	a, e, err := Narrow(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	m, err := e.Moments(&a.Best.Plan)
	return a, m, note.Of("global_batch", err) // too many passes to be listed, of which the batch makes as many
}

// WhyNot compares the plan that the request names with the best of all, or with
// what the request names against it, and says at which figures the plan would be
// bound by something else.
func WhyNot(ctx context.Context, r *TrainRequest) (*TrainAnswer, error) {
	if r.Fixed == nil || !r.Fixed.Any() {
		return nil, errors.New("--plan is missing: name the plan in question, such as fsdp")
	}
	q, err := question(r)
	if err != nil {
		return nil, err
	}
	a := &TrainAnswer{Request: r}
	if err := a.narrow(ctx, q); err != nil {
		return nil, err
	}
	against := r.Against
	if against == nil {
		against = r.Fixed.Free()
	}
	whole, err := a.compare(ctx, q, against)
	switch {
	case err != nil:
		return nil, err
	case a.Overall != nil:
	case r.Against == nil:
		return nil, errors.New("no plan fits to compare with: take a larger cluster or a smaller job")
	case whole.Nearest == nil:
		return nil, note.Of("against", whole.Illegal(q.Job, against))
	default:
		return nil, note.Of("against", errors.New("the plan to compare with does not fit in memory: name another, or leave it out"))
	}
	a.BreakEvens, err = a.asked.Flips(&a.Best.Plan)
	return a, err
}

// mostPlans bounds the plans of a sweep or a list.
const mostPlans = 64

// planned is the best plan of each that is named, with the question as it was
// evaluated, or why there is none.
type planned struct {
	result *train.Result
	err    error
}

func (q planQuestion) each(ctx context.Context, plans []*plan.Fixed) ([]planned, error) {
	if len(plans) == 0 || len(plans) > mostPlans {
		return nil, note.Of("plans", fmt.Errorf("%d plans: give 1 to %d", len(plans), mostPlans))
	}
	list := make([]planned, len(plans))
	for i, f := range plans {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		asked, _ := q.Padded(f)
		out, err := asked.Best(ctx, f)
		switch {
		case err != nil:
			return nil, err
		case len(out.Plans) > 0:
			list[i].result = out.Plans[0]
		case out.Nearest != nil:
			list[i].result = out.Nearest
		default:
			list[i].err = out.Illegal(asked.Job, f)
		}
	}
	return list, nil
}

// planQuestion asks about named plans.
type planQuestion struct{ *advise.Question }

// TrainSweep turns one figure and evaluates each plan, whose open keys are
// searched at today's figures, at every value.
func TrainSweep(ctx context.Context, r *TrainRequest, plans []*plan.Fixed, k advise.Knob) (*advise.Sweep, error) {
	q, err := question(r)
	if err != nil {
		return nil, err
	}
	found, err := planQuestion{q}.each(ctx, plans)
	if err != nil {
		return nil, err
	}
	list := make([]plan.Plan, len(found))
	for i, x := range found {
		if x.err != nil {
			return nil, note.Of("plans", x.err)
		}
		list[i] = x.result.Plan
	}
	return q.Sweep(ctx, list, k)
}

// PricedPlan is one plan of a list, evaluated and compared with nothing; or why it
// is not legal.
type PricedPlan struct {
	Answer *TrainAnswer // its Best alone
	Err    error
}

// TrainPrice evaluates each plan, keys that are not given as they are best: what
// follows a slider.
func TrainPrice(ctx context.Context, r *TrainRequest, plans []*plan.Fixed) ([]PricedPlan, error) {
	q, err := question(r)
	if err != nil {
		return nil, err
	}
	found, err := planQuestion{q}.each(ctx, plans)
	list := make([]PricedPlan, len(found))
	for i, x := range found {
		list[i] = PricedPlan{&TrainAnswer{Request: r, Best: x.result}, x.err}
	}
	return list, err
}

// Roof is a ceiling of the roofline: what the machine reaches, and its datasheet.
type Roof struct {
	Resource string      // compute, hbm, nvlink or network
	Format   unit.Format // of products; of compute only
	Achieved float64     // FLOP/s or bytes/s per GPU
	Peak     float64     // 0 = not published
}

// Roofs are the ceilings of the best plan's operations.
func (a *TrainAnswer) Roofs() ([]Roof, error) {
	e, err := a.asked.Evaluator()
	if err != nil {
		return nil, err
	}
	pr := &a.Best.Plan.Precision
	return roofs(e.Machine(), a.Request.Cluster, pr.GEMM, pr.Attention, pr.Head), nil
}
