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
	"github.com/ridgeline/ridgeline/internal/note"
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
	Warnings     note.List
	Assumptions  note.List
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

// Explain words one of the outcome's illegal causes with its example plan.
func (a *TrainAnswer) Explain(c plan.Cause) string {
	return a.Outcome.Examples[c].Explain(c, a.asked.Job).Error()
}
