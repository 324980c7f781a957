package api

import (
	"slices"

	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// Drafting is what a speculation gains and costs on the best layout, by batch.
type Drafting struct {
	Speculation *infer.Speculation
	Curve       []infer.SpecPoint
	Limits      *infer.Drafting // what the engine's version gives up meanwhile; nil = nothing
	// With and Without are the first load at which the service makes fewer tokens with it
	// than without; nil where none is or the question does not ask about both.
	With, Without *deploy.Point
}

// specBatches are where a speculation's gain is shown.
var specBatches = []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}

// drafting compares each listed speculation with none on layout x.
func (a *InferAnswer) drafting(q *deploy.Question, x plan.Serving, context int64) error {
	for _, o := range a.Outcomes {
		v := *o.Variant
		s := v.Speculation
		if s == nil || s.Drafts == 0 || v.Cluster != a.Best.Variant.Cluster || slices.ContainsFunc(a.Drafting, func(d Drafting) bool { return d.Speculation == s }) {
			continue
		}
		in, err := q.Build(&v, x)
		if err != nil {
			continue // with the drafter it does not fit: its own table says so
		}
		drafted, ok := in.Stepper.(*infer.Speculative)
		if !ok {
			continue
		}
		most := in.Engine.MaxConcurrency(context)
		var batches []int
		for _, n := range specBatches {
			if int64(n) <= most {
				batches = append(batches, n)
			}
		}
		if len(batches) > 0 {
			d := Drafting{Speculation: s, Curve: infer.SpecCurve(drafted, context, batches), Limits: in.Engine.Setup().Profile.Drafting}
			d.With, d.Without = a.loses(o)
			a.Drafting = append(a.Drafting, d)
		}
	}
	return nil
}

// loses finds the first load at which outcome o, which speculates, makes fewer tokens
// than the outcome that differs from it by nothing else.
func (a *InferAnswer) loses(o *deploy.Outcome) (with, without *deploy.Point) {
	for _, plain := range a.Outcomes {
		v := *o.Variant
		v.Speculation, v.Draft = plain.Variant.Speculation, nil
		if plain == o || v != *plain.Variant || v.Speculation != nil && v.Speculation.Drafts > 0 {
			continue
		}
		for _, n := range a.Request.Concurrency {
			if x, y := o.At(n), plain.At(n); x != nil && y != nil && x.Fits && y.Fits && x.Output < y.Output {
				return x, y
			}
		}
	}
	return nil, nil
}
