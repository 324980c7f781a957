package api

import (
	"errors"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Strategy is the best deployment with one thing changed, on as many GPUs and
// under the same load.
type Strategy struct {
	Name  string
	Point *deploy.Point // nil where it does not fit
}

// change switches one thing; false where it changes nothing.
type change struct {
	name  string
	apply func(v *deploy.Variant, x *plan.Serving) bool
}

// changes lists what is tried, as operators know it.
var changes = []change{
	{"attention data-parallel instead of tensor-parallel", func(_ *deploy.Variant, x *plan.Serving) bool {
		tp := x.TP
		x.TP, x.DP, x.DCP = 1, x.DP*tp, 1
		return tp > 1
	}},
	{"attention tensor-parallel instead of data-parallel", func(_ *deploy.Variant, x *plan.Serving) bool {
		dp := x.DP
		x.TP, x.DP, x.DCP = x.TP*dp, 1, 1
		return dp > 1
	}},
	{"whole experts on single ranks (EP)", func(_ *deploy.Variant, x *plan.Serving) bool {
		had := x.EP
		x.EP = x.Ranks()
		return had != x.EP
	}},
	{"every expert split over all ranks", func(_ *deploy.Variant, x *plan.Serving) bool {
		had := x.EP
		x.EP, x.Redundant = 1, 0
		return had > 1
	}},
	{"one more copy of experts on every rank", func(v *deploy.Variant, x *plan.Serving) bool {
		had := x.Redundant
		x.Redundant += x.EP
		return (v.Skew > 0 || v.Loads != nil) && x.EP > 1 && had == 0
	}},
	{"KV cache shared inside TP (context parallel)", func(_ *deploy.Variant, x *plan.Serving) bool {
		had := x.DCP
		x.DCP = x.TP
		return had == 1 && x.TP > 1
	}},
	{"two micro-batches overlapped", func(v *deploy.Variant, x *plan.Serving) bool {
		had := v.TwoBatch
		v.TwoBatch = true
		return !had && x.GPUs() > 1
	}},
	{"KV cache in fp8", func(v *deploy.Variant, _ *plan.Serving) bool {
		had := v.KV.Bits()
		v.KV = unit.FP8
		return had > 8
	}},
	{"no speculation", func(v *deploy.Variant, _ *plan.Serving) bool {
		had := v.Speculation != nil && v.Speculation.Drafts > 0
		v.Speculation = nil
		return had
	}},
}

// strategies prices the best deployment with single changes; with two roles, of
// the instances that generate. Layouts that the model refuses are left out.
func (a *InferAnswer) strategies(q *deploy.Question) error {
	for _, c := range changes {
		v, p := *a.Best.Variant, *a.Best.Best
		x := &p.Layout.Serving
		if s := p.Layout.Split; s != nil {
			split := *s
			p.Layout.Split, x = &split, &split.Decode
		}
		if !c.apply(&v, x) || x.Check(q.Model, v.Cluster.GPUs) != nil {
			continue
		}
		point, err := q.Again(&v, &p, a.Best.Calibration)
		if full := (*infer.MemoryError)(nil); err != nil && !errors.As(err, &full) {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		a.Strategies = append(a.Strategies, Strategy{c.name, point})
	}
	return nil
}
