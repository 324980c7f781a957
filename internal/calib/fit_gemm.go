package calib

import (
	"github.com/ridgeline/ridgeline/internal/hw"
)

// Thinning of the large tables: one row in so many is fitted, another tested.
const (
	everyGEMM      = 29
	everyMoE       = 7
	everyAttention = 5
)

// gemms fits every format of the GEMM tables, and after each its grouped form.
func (f *fitter) gemms() error {
	for _, dtype := range []string{"bfloat16", "fp8", "fp8_block", "nvfp4"} {
		if err := f.gemm(dtype); err != nil {
			return err
		}
		if err := f.grouped(dtype); err != nil {
			return err
		}
	}
	return nil
}

// gemm fits one format over all engines' tables. Low-precision tables time the
// quantising of the activations too; that is each engine's own.
func (f *fitter) gemm(dtype string) error {
	sources, err := f.load("gemm/*.parquet", everyGEMM, func(t *table, keep func() bool) ([]sample, error) {
		return gemmSamples(t, dtype, keep)
	})
	if err != nil || len(sources) == 0 {
		return err
	}
	g := &f.kernels.GEMM[gemmFormats[dtype]]
	*g = hw.GEMM{Share: 0.8, Fill: 100, Edge: 10, Quant: 0.5, Overlap: 0.2, Memory: 0.85}
	launch := 4.0
	knobs := []knob{
		{&g.Share, 0.4, 1}, {&g.Fill, 0, 800}, {&g.Edge, 0, 120}, {&g.Quant, 0, 1},
		{&g.Overlap, 0, 1}, {&g.Memory, 0.4, 1}, {&launch, 0, 12},
	}
	if dtype != "bfloat16" {
		knobs = append(knobs, quantKnobs(sources)...)
	}
	return f.solve(&problem{what: "gemm " + gemmFormats[dtype].String(), sources: sources, knobs: knobs, refresh: func() { g.Launch = us(launch) }})
}

// quantKnobs are the engines' own overheads around a low-precision product.
func quantKnobs(sources []*source) []knob {
	var knobs []knob
	seen := map[*engine]bool{}
	for _, s := range sources {
		e := s.engine
		if seen[e] {
			continue
		}
		seen[e] = true
		e.fixed, e.perRow, e.perElement = 2, 0.1, 0.1
		knobs = append(knobs, knob{&e.fixed, 0, 15}, knob{&e.perRow, 0, 12}, knob{&e.perElement, 0, 4}, knob{&e.host, 0, 400})
	}
	return knobs
}

// grouped fits the share of a GEMM's rate that one product per expert keeps, on
// TensorRT-LLM's tables: the other engines' add permutations of their own that
// the tables do not describe.
func (f *fitter) grouped(dtype string) error {
	sources, err := f.load("moe/trtllm-*.parquet", everyMoE, func(t *table, keep func() bool) ([]sample, error) {
		return moeSamples(t, dtype, keep)
	})
	if err != nil || len(sources) == 0 {
		return err
	}
	g := &f.kernels.GEMM[gemmFormats[dtype]]
	g.Grouped = 0.8
	e := sources[0].engine
	e.fixed, e.passes = 10, 1
	knobs := []knob{{&g.Grouped, 0.1, 1}, {&e.fixed, 0, 200}, {&e.passes, 0, 4}}
	return f.solve(&problem{what: "moe " + gemmFormats[dtype].String(), sources: sources, knobs: knobs})
}
