package api

import (
	"context"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// RatioAnswer is a disaggregated plan with other numbers of workers of each role.
type RatioAnswer struct {
	Request         *InferRequest
	Variant         *deploy.Variant
	Prefill, Decode []int
	Listed          bool        // the loads are the request's: none between them is looked at
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
// prefill and decode workers that it does not give, up to ratioWorkers, that fits the cluster.
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
	a := &RatioAnswer{Listed: len(r.Concurrency) > 0}
	if !a.Listed {
		if r, err = r.withLoads(q, variants); err != nil {
			return nil, err
		}
	}
	a.Request, a.Variant = r, variants[0]
	have := int(a.Variant.Cluster.GPUs)
	fewest := [2]int{1, 1}
	if r.Plan.Prefill.Has(plan.KeyWorkers) {
		fewest[0] = r.Plan.Prefill.Workers
	}
	if r.Plan.Decode.Has(plan.KeyWorkers) {
		fewest[1] = r.Plan.Decode.Workers
	}
	least := fewest[0]*split.Prefill.GPUs() + fewest[1]*split.Decode.GPUs()
	if least > have {
		return nil, fmt.Errorf("--plan needs %d GPUs for %d prefill and %d decode workers and the cluster has %d: lower a degree or take a larger cluster",
			least, fewest[0], fewest[1], have)
	}
	a.Prefill = workers(r.Plan.Prefill, (have-fewest[1]*split.Decode.GPUs())/split.Prefill.GPUs())
	a.Decode = workers(r.Plan.Decode, (have-fewest[0]*split.Prefill.GPUs())/split.Decode.GPUs())
	return a, a.fill(ctx, q, have)
}

// workers is the numbers of workers of a role that are looked at: the given one, or all up
// to most.
func workers(role *plan.FixedServing, most int) (list []int) {
	if role.Has(plan.KeyWorkers) {
		return []int{role.Workers}
	}
	for n := 1; n <= min(most, ratioWorkers); n++ {
		list = append(list, n)
	}
	return list
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
