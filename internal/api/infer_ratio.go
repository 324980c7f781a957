package api

import (
	"context"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/deploy"
)

// RatioAnswer is a disaggregated plan with other numbers of workers of each role.
type RatioAnswer struct {
	Request         *InferRequest
	Variant         *deploy.Variant
	Prefill, Decode []int
	Cells           []RatioCell // one per pair that the cluster holds
}

// RatioCell is one pair of worker counts and its best point under the SLO; without
// one that meets it, the point that misses by least.
type RatioCell struct {
	Prefill, Decode int
	Point           *deploy.Point
	Met             bool
}

// Best is the pair with most output per GPU: of those that meet the SLO if any
// does, else of those that fit.
func (a *RatioAnswer) Best() *RatioCell {
	best := &a.Cells[0]
	for i := range a.Cells {
		if c := &a.Cells[i]; c.beats(best) {
			best = c
		}
	}
	return best
}

func (c *RatioCell) beats(other *RatioCell) bool {
	switch {
	case c.Met != other.Met:
		return c.Met
	case c.Point.Fits != other.Point.Fits:
		return c.Point.Fits
	}
	return c.Point.PerGPU() > other.Point.PerGPU()
}

// ratioWorkers is the most workers of a role that are looked at.
const ratioWorkers = 16

// InferRatio prices the request's plan of two roles with every number of
// prefill and decode workers up to ratioWorkers that fits the cluster.
func InferRatio(ctx context.Context, r *InferRequest) (*RatioAnswer, error) {
	split := r.Plan.Disaggregated()
	if split == nil {
		return nil, fmt.Errorf("--plan names no roles: write for example prefill:tp=4;decode:tp=8")
	}
	q, err := inferQuestion(r)
	if err != nil {
		return nil, err
	}
	variants, err := r.variants()
	if err != nil {
		return nil, err
	}
	if len(variants) != 1 {
		return nil, fmt.Errorf("a ratio is of one deployment: give one cluster, format, speculation, round trip and overlap each, not %d combinations", len(variants))
	}
	if len(r.Concurrency) == 0 {
		if r, err = r.withLoads(q, variants); err != nil {
			return nil, err
		}
	}
	a := &RatioAnswer{Request: r, Variant: variants[0]}
	have := int(a.Variant.Cluster.GPUs)
	for n := 1; n <= ratioWorkers; n++ {
		if n*split.Prefill.GPUs()+split.Decode.GPUs() <= have {
			a.Prefill = append(a.Prefill, n)
		}
		if n*split.Decode.GPUs()+split.Prefill.GPUs() <= have {
			a.Decode = append(a.Decode, n)
		}
	}
	if len(a.Prefill) == 0 {
		return nil, fmt.Errorf("--plan needs %d GPUs for one worker of each role and the cluster has %d: lower a degree or take a larger cluster",
			split.Prefill.GPUs()+split.Decode.GPUs(), have)
	}
	return a, a.fill(ctx, q, have)
}

func (a *RatioAnswer) fill(ctx context.Context, q *deploy.Question, have int) error {
	split := a.Request.Plan.Disaggregated()
	all := len(a.Prefill) * len(a.Decode)
	for i, p := range a.Prefill {
		for k, d := range a.Decode {
			if a.Request.Progress != nil {
				a.Request.Progress(i*len(a.Decode)+k, all)
			}
			if p*split.Prefill.GPUs()+d*split.Decode.GPUs() > have {
				continue
			}
			asked := *q
			asked.Plan = a.Request.Plan.WithWorkers(p, d)
			o, err := deploy.Run(ctx, &asked, a.Variant, func(int, int) {})
			if err != nil {
				return err
			}
			a.Cells = append(a.Cells, RatioCell{p, d, o.Best, o.Meets(a.Request.SLO)})
		}
	}
	return nil
}
