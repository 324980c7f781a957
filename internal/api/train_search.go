package api

import (
	"context"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/search"
	"github.com/ridgeline/ridgeline/internal/train"
)

// narrow searches the space that the request leaves open.
func (a *TrainAnswer) narrow(ctx context.Context, q *advise.Question) error {
	fixed := a.Request.Fixed
	asked, padded := q.Padded(fixed)
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
		if err := out.Illegal(asked.Job, fixed); !fixed.Any() {
			return err // the batch, the sequence or the cluster
		} else {
			return note.Of("plan", err)
		}
	}
	if padded.Text != "" {
		a.Warnings = append(a.Warnings, padded)
	}
	return nil
}

// offload tries optimizer states in host memory where no plan fits without: they
// make plans fit, or bring one nearer.
func (a *TrainAnswer) offload(ctx context.Context, q *advise.Question, out *search.Outcome) (*search.Outcome, error) {
	fixed, err := a.Request.Fixed.With(plan.KeyOffload, "optimizer")
	if err != nil {
		return nil, err
	}
	moved, err := q.Search(ctx, fixed)
	if err != nil || len(moved.Plans) == 0 && !nearer(moved.Nearest, out.Nearest) {
		return out, err
	}
	a.Warnings = append(a.Warnings, note.New(note.StatesOnHost, "", "nothing fits with the optimizer states on the device: these plans keep them in host memory"))
	return moved, nil
}

// nearer tells whether r, if there is one, lacks less memory than other.
func nearer(r, other *train.Result) bool {
	return r != nil && r.Memory.Total()-r.Limit < other.Memory.Total()-other.Limit
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
	_, err := a.compare(ctx, q, against)
	return err
}

// compare says what the best plan lacks against the best that fixed leaves open, and returns what was searched for that.
func (a *TrainAnswer) compare(ctx context.Context, q *advise.Question, fixed *plan.Fixed) (*search.Outcome, error) {
	whole, err := q.Best(ctx, fixed)
	if err != nil || len(whole.Plans) == 0 {
		return whole, err
	}
	a.Overall = whole.Plans[0]
	a.WhyNot = advise.Reason(a.Best, a.Overall)
	return whole, nil
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
