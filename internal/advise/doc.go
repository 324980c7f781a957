// Package advise answers why: why a plan is best, why another one is not, what
// would change the verdict and at which value. Every number comes from the same
// evaluator that ranks plans; this package only asks it more questions.
package advise

import (
	"context"
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/search"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Question is a job on a cluster under a precision: what all answers share.
type Question struct {
	Job       *plan.Job
	Cluster   *hw.Cluster
	Precision plan.Precision
	Limit     float64 // usable share of device memory, 0 = the default
	Options   search.Options

	evaluator *train.Evaluator // priced layers, shared by all searches of the question
}

// Evaluator is the question's evaluator, made once; it serves one goroutine.
func (q *Question) Evaluator() (*train.Evaluator, error) {
	if q.evaluator != nil {
		return q.evaluator, nil
	}
	e, err := train.NewEvaluator(q.Job, q.Cluster, q.Limit)
	if err != nil {
		return nil, err
	}
	if err := q.multiplies(e.Machine(), &q.Precision); err != nil {
		var able []string
		for _, name := range plan.PrecisionNames() {
			if p := plan.Precisions[name]; q.multiplies(e.Machine(), &p) == nil {
				able = append(able, name)
			}
		}
		return nil, fmt.Errorf("precision %s: %w: use one of %s", q.Precision.Name, err, strings.Join(able, ", "))
	}
	q.evaluator = e
	return e, nil
}

// multiplies says whether the device has the products of a precision.
func (q *Question) multiplies(m *cost.Machine, p *plan.Precision) error {
	for _, f := range []unit.Format{p.GEMM, p.Attention, p.Head} {
		if m.MatrixRate(f) == 0 {
			return fmt.Errorf("%s has no %s matrix rate", q.Cluster.Device.Name, f)
		}
	}
	if p.GEMM == unit.MXFP8 && !q.Cluster.Device.BlockScaled() {
		return fmt.Errorf("%s has no block-scaled (MX) products", q.Cluster.Device.Name)
	}
	return nil
}

// with is the question about something else, with nothing priced yet.
func (q *Question) with(change func(*Question)) *Question {
	asked := *q
	asked.evaluator = nil
	change(&asked)
	return &asked
}

// Search finds the best plans among those that fix leaves open; nil searches all.
func (q *Question) Search(ctx context.Context, fix *plan.Fixed) (*search.Outcome, error) {
	e, err := q.Evaluator()
	if err != nil {
		return nil, err
	}
	return search.Run(ctx, e, search.NewSpace(q.Job, fix, q.Precision), q.Options)
}

// Best is Search for the best plan alone.
func (q *Question) Best(ctx context.Context, fix *plan.Fixed) (*search.Outcome, error) {
	return q.best(ctx, fix, nil)
}

// best searches a space that narrow may have reduced further.
func (q *Question) best(ctx context.Context, fix *plan.Fixed, narrow func(*search.Space, *plan.Job)) (*search.Outcome, error) {
	e, err := q.Evaluator()
	if err != nil {
		return nil, err
	}
	o := q.Options
	o.Top, o.Progress = 1, nil
	s := search.NewSpace(q.Job, fix, q.Precision)
	if narrow != nil {
		narrow(s, q.Job)
	}
	return search.Run(ctx, e, s, o)
}
