// Package advise answers why: why a plan is best, why another one is not, what
// would change the verdict and at which value. Every number comes from the same
// evaluator that ranks plans; this package only asks it more questions.
package advise

import (
	"context"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/search"
	"github.com/ridgeline/ridgeline/internal/train"
)

// Question is a job on a cluster under a precision: what all answers share.
type Question struct {
	Job       *plan.Job
	Cluster   *hw.Cluster
	Precision plan.Precision
	Limit     float64 // usable share of device memory, 0 = the default
	Options   search.Options
}

// Evaluator prepares the question's evaluator.
func (q *Question) Evaluator() (*train.Evaluator, error) {
	e, err := train.NewEvaluator(q.Job, q.Cluster, q.Limit)
	if err != nil {
		return nil, err
	}
	if err := e.Machine().Supports(q.Precision.GEMM); err != nil {
		return nil, fmt.Errorf("precision %s: %w", q.Precision.Name, err)
	}
	return e, nil
}

// Search finds the best plans among those that fix leaves open; nil searches all.
func (q *Question) Search(ctx context.Context, fix *plan.Fixed) (*search.Outcome, error) {
	e, err := q.Evaluator()
	if err != nil {
		return nil, err
	}
	return search.Run(ctx, e, search.NewSpace(q.Job, fix, q.Precision), q.Options)
}
