package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Explained is a step of an engine, operation by operation.
type Explained struct {
	Name  string // prefill or decode
	Plan  plan.Serving
	Batch infer.Batch
	Step  infer.Step  // of the engine alone, without a drafter
	Rows  []infer.Row // of one GPU
	Roofs []Roof
}

// ExplainInfer is the tables of `explain infer`: the best deployment that the
// request leaves open, a step that reads one prompt, or its first chunk, and a
// decode step at the best point's load. Where nothing fits there are none.
func ExplainInfer(ctx context.Context, r *InferRequest) (*InferAnswer, []Explained, error) {
	if len(r.Measured) > 0 {
		return nil, nil, fmt.Errorf("--calibrate scales whole steps and no operation of them: leave it out here, or ask infer")
	}
	if slices.Contains(r.Overlap, true) {
		return nil, nil, fmt.Errorf("--overlap two-batch lays two halves of a step over each other, which no operation of them shows: leave it out here, or ask infer")
	}
	a, err := Infer(ctx, r)
	if err != nil || !a.Best.Best.Fits {
		return a, nil, err
	}
	q, err := inferQuestion(a.Request) // with the loads that were looked at
	if err != nil {
		return nil, nil, err
	}
	b, v := a.Best.Best, a.Best.Variant
	reads, writes := b.Layout.Serving, b.Layout.Serving
	if s := b.Layout.Split; s != nil {
		reads, writes = s.Prefill, s.Decode
	}
	var list []Explained
	for _, x := range []Explained{{Name: "prefill", Plan: reads}, {Name: "decode", Plan: writes}} {
		in, err := q.Build(v, x.Plan)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", x.Name, err)
		}
		if x.Name == "prefill" {
			n := min(r.ISL-r.Cached, in.Engine.Setup().MaxBatchTokens)
			x.Batch = infer.Batch{Prefill: n, Prompts: 1, PrefillPairs: float64(n) * (float64(r.Cached) + float64(n+1)/2)}
		} else {
			x.Batch = infer.Batch{Decode: b.Batch, DecodeContext: int64(b.Batch) * (r.ISL + r.OSL/2)}
			if v.Speculation != nil {
				x.Batch.Draft = v.Speculation.Drafts
			}
		}
		x.Step, x.Rows = in.Engine.Step(&x.Batch), in.Engine.Explain(&x.Batch)
		x.Roofs = roofs(in.Engine.Machine(), v.Cluster, v.Weights, v.Experts, unit.BF16) // attention runs in 16 bit
		list = append(list, x)
	}
	return a, list, nil
}
