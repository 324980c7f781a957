package calib

import (
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
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
	t := newProduct(g, 0)
	var own []knob
	if dtype != "bfloat16" {
		own = quantKnobs(sources)
	}
	return f.solveTilings(&problem{what: "gemm " + gemmFormats[dtype].String(), sources: sources, refresh: t.refresh}, t, own)
}

// product is the search of one kernel's constants.
type product struct {
	to                 *hw.GEMM
	launch, step, join float64 // us, ns, us
	seenLaunch         bool    // the rows show the launch; else it is given
}

// newProduct searches the constants of g. launch, if not 0, is known.
func newProduct(g *hw.GEMM, launch unit.Seconds) *product {
	return &product{to: g, launch: float64(launch) * 1e6, seenLaunch: launch == 0}
}

func (t *product) refresh() {
	t.to.Launch, t.to.Step, t.to.Join = us(t.launch), unit.Seconds(t.step*1e-9), us(t.join)
}

// begin sets the start for one way of tiling and gives the knobs that matter to it.
func (t *product) begin(tiling hw.Tiling) []knob {
	g := t.to
	*g = hw.GEMM{Share: 0.8, Fill: 100, Edge: 10, Quant: 0.5, Overlap: 0.2, Memory: 0.85, Tiling: tiling}
	t.step, t.join = 0.5, 0
	knobs := []knob{{&g.Share, 0.05, 1}, {&g.Fill, 0, 800}, {&g.Edge, 0, 120}, {&g.Quant, 0, 1}, {&g.Overlap, 0, 1}, {&g.Memory, 0.1, 1}, {&t.step, 0, 4}}
	if t.seenLaunch {
		t.launch = 4
		knobs = append(knobs, knob{&t.launch, 0.5, 25})
	}
	if tiling == hw.SplitK {
		t.join, g.Partial = 1, 1
		knobs = append(knobs, knob{&t.join, 0, 10}, knob{&g.Partial, 0.1, 6})
	}
	return knobs
}

// solveTilings searches once for each way of tiling and keeps the best end. own are
// further knobs, which begin anew each time.
func (f *fitter) solveTilings(p *problem, t *product, own []knob) error {
	start := make([]float64, len(own))
	for i := range own {
		start[i] = *own[i].value
	}
	return f.solveFrom(p, int(hw.NumTilings), func(i int) {
		p.knobs = append(t.begin(hw.Tiling(i)), own...)
		for k := range own {
			*own[k].value = start[k]
		}
	})
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
