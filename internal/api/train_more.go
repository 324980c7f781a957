package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// TrainMoments lays the best plan that the request leaves open out in time and
// space.
func TrainMoments(ctx context.Context, r *TrainRequest) (*TrainAnswer, *train.Moments, error) {
	q, err := question(r)
	if err != nil {
		return nil, nil, err
	}
	a := &TrainAnswer{Request: r}
	if err := a.narrow(ctx, q); err != nil {
		return nil, nil, err
	}
	e, err := a.asked.Evaluator()
	if err != nil {
		return nil, nil, err
	}
	m, err := e.Moments(&a.Best.Plan)
	return a, m, err
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
	if err := a.compare(ctx, q, against); err != nil {
		return nil, err
	}
	if a.Overall == nil {
		return nil, errors.New("no plan fits to compare with: take a larger cluster or a smaller job")
	}
	a.BreakEvens, err = a.asked.Flips(&a.Best.Plan)
	return a, err
}

// mostSwept bounds the plans of a sweep.
const mostSwept = 16

// TrainSweep turns one figure and evaluates each plan, whose open keys are
// searched at today's figures, at every value.
func TrainSweep(ctx context.Context, r *TrainRequest, plans []*plan.Fixed, k advise.Knob) (*advise.Sweep, error) {
	if len(plans) == 0 || len(plans) > mostSwept {
		return nil, fmt.Errorf("%d plans: a sweep takes 1 to %d", len(plans), mostSwept)
	}
	q, err := question(r)
	if err != nil {
		return nil, err
	}
	var list []plan.Plan
	for _, f := range plans {
		out, err := q.Best(ctx, f)
		switch {
		case err != nil:
			return nil, err
		case len(out.Plans) > 0:
			list = append(list, out.Plans[0].Plan)
		case out.Nearest != nil:
			list = append(list, out.Nearest.Plan)
		default:
			return nil, out.Illegal(q.Job, f)
		}
	}
	return q.Sweep(ctx, list, k)
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
