package api

import (
	"context"
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/launch"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// LaunchRequest asks for the configuration of a plan. ServingText or Fixed is
// given, by what the engine does.
type LaunchRequest struct {
	launch.Request
	ServingText *plan.ServingText
	Fixed       *plan.Fixed
	Precision   plan.Precision
	Cluster     *hw.Cluster // nil = not known; then nothing is predicted
	Concurrency []int
	Speculation *infer.Speculation // with its acceptance; nil = as Serve.Drafts are accepted by default
}

// LaunchAnswer is a configuration and what it is expected to do.
type LaunchAnswer struct {
	*launch.Bundle
	Predictions []Prediction `json:"predictions,omitempty"`
}

// Prediction is one level of concurrency of the evaluation.
type Prediction struct {
	Concurrency int     `json:"concurrency"`
	TTFT        float64 `json:"ttft_seconds"`
	TPOT        float64 `json:"tpot_seconds"`
	Output      float64 `json:"output_tokens_per_second"`
	// Where infer.RangeShare of measured services lie, least and most; nil where nothing says.
	TTFTRange []float64 `json:"ttft_range_seconds"`
	TPOTRange []float64 `json:"tpot_range_seconds"`
}

// String is the prediction as a line of the README.
func (p *Prediction) String() string {
	s := fmt.Sprintf("concurrency %d: TTFT %s, TPOT %s, %.0f output tokens/s", p.Concurrency,
		unit.FormatSeconds(unit.Seconds(p.TTFT)), unit.FormatSeconds(unit.Seconds(p.TPOT)), p.Output)
	var parts []string
	for _, r := range []struct {
		name string
		span []float64
	}{{"TTFT", p.TTFTRange}, {"TPOT", p.TPOTRange}} {
		if r.span != nil {
			parts = append(parts, fmt.Sprintf("%s of %s to %s", r.name, unit.FormatSeconds(unit.Seconds(r.span[0])), unit.FormatSeconds(unit.Seconds(r.span[1]))))
		}
	}
	if len(parts) > 0 {
		s += fmt.Sprintf("; %.0f %% of measured services lie at a %s", 100*infer.RangeShare, strings.Join(parts, " and a "))
	}
	return s
}

// span is a range as JSON says it.
func span(r [2]unit.Seconds, ok bool) []float64 {
	if !ok {
		return nil
	}
	return []float64{float64(r[0]), float64(r[1])}
}

// Launch writes the configuration. Errors are bad input.
func Launch(ctx context.Context, r *LaunchRequest) (*LaunchAnswer, error) {
	switch t := r.ServingText; {
	case t != nil && t.Whole != nil:
		r.Serving = &t.Whole.Serving
	case t != nil:
		r.Split = t.Disaggregated()
	default:
		p, err := r.complete()
		if err != nil {
			return nil, err
		}
		r.Training = p
	}
	a := &LaunchAnswer{}
	b, err := launch.Build(&r.Request) // before anything is predicted: most requests fail here
	if err != nil {
		return nil, err
	}
	if err := r.onCluster(); err != nil {
		return nil, err
	}
	a.Predictions, r.Doubts = r.predict(ctx, b.Written)
	if len(a.Predictions)+len(r.Doubts) > 0 {
		for _, p := range a.Predictions {
			r.Predicted = append(r.Predicted, p.String())
		}
		if b, err = launch.Build(&r.Request); err != nil {
			return nil, err
		}
	}
	a.Bundle = b
	return a, nil
}

// complete fills the keys that a training plan leaves out: degrees of 1, dp from
// the cluster, one sequence per micro-batch, zero=1 (FSDP of torchtitan: 3), the schedule by vpp.
func (r *LaunchRequest) complete() (*plan.Plan, error) {
	p := r.Fixed.Plan
	p.Precision = r.Precision
	for _, n := range []*int{&p.TP, &p.PP, &p.CP, &p.VPP, &p.EP, &p.ETP, &p.MicroBatch} {
		if *n == 0 {
			*n = 1
		}
	}
	if !r.Fixed.Has(plan.KeyZeRO) {
		if p.ZeRO = 1; r.Engine == argv.TorchTitan { // which has no other sharding by default
			p.ZeRO = 3
		}
	}
	if !r.Fixed.Has(plan.KeyOverlap) {
		p.Overlap = plan.Overlap{TP: true, DP: true, PP: true}
	}
	if kind := "interleaved"; !r.Fixed.Has(plan.KeySchedule) && p.VPP > 1 {
		f, err := r.Fixed.With(plan.KeySchedule, kind)
		if err != nil {
			return nil, err
		}
		p.Schedule = f.Plan.Schedule
	}
	if r.Fixed.Has(plan.KeyDP) {
		return &p, nil
	}
	model := p.TP * p.PP * p.CP
	switch {
	case r.Cluster == nil:
		return nil, fmt.Errorf("plan key dp is missing: give dp=N or --cluster")
	case r.Cluster.GPUs%int64(model) != 0:
		return nil, fmt.Errorf("plan tp x pp x cp = %d does not divide the %d GPUs of the cluster: change a degree", model, r.Cluster.GPUs)
	}
	p.DP = int(r.Cluster.GPUs) / model
	return &p, nil
}
