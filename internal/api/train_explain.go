package api

import (
	"context"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
)

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

// ExplainTrain is the table of `explain train`: the best plan that the request
// leaves open, and each of its operations on one rank for one micro-batch.
func ExplainTrain(ctx context.Context, r *TrainRequest) (*TrainAnswer, []train.Row, error) {
	a, e, err := Narrow(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	return a, e.Explain(&a.Best.Plan), nil
}
