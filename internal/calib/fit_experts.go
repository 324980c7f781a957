package calib

import "github.com/ridgeline/ridgeline/internal/hw"

// experts fits every kernel and weight format of the engine's MoE tables.
func (f *fitter) experts(e *hw.Engine) error {
	pattern := "moe/" + e.Name + "-*.parquet"
	list, err := f.kernelsOf(e.Name, pattern, "moe_dtype")
	if err != nil {
		return err
	}
	for _, k := range list {
		sources, err := f.rows(e.Name, pattern, everyExperts, k.row("moe_dtype"))
		if err == nil && fitted(sources) < fewExperts {
			sources, err = f.rows(e.Name, pattern, everyModule, k.row("moe_dtype"))
		}
		if err != nil {
			return err
		}
		if err := f.expert(e, k, sources); err != nil {
			return err
		}
	}
	return nil
}

// fewExperts is the rows below which a kernel's table is thinned less.
const fewExperts = 200

// fitted is the rows of a fit.
func fitted(sources []*source) int {
	n := 0
	for _, s := range sources {
		n += len(s.fit)
	}
	return n
}

func (f *fitter) expert(e *hw.Engine, k kernelOf, sources []*source) error {
	e.MoE = append(e.MoE, k.product())
	g := &e.MoE[len(e.MoE)-1]
	g.GEMM = hw.GEMM{Share: 0.6, Fill: 200, Edge: 20, Quant: 0.5, Overlap: 0.3, Memory: 0.8}
	launch, expert := 8.0, 10.0
	g.Others = 0.2
	knobs := []knob{{&g.Share, 0.05, 1}, {&g.Fill, 0, 4000}, {&g.Edge, 0, 300}, {&g.Quant, 0, 1}, {&g.Overlap, 0, 1}, {&g.Memory, 0.1, 1},
		{&launch, 0.5, 200}, {&g.Passes, 0, 20}, {&expert, 0, 1000}, {&g.Others, 0, 20}}
	return f.solve(&problem{what: e.Name + " moe " + k.dtype + " " + k.kernel, sources: sources, knobs: knobs, refresh: func() {
		g.Launch, g.Expert = us(launch), us(expert/1e3)
	}})
}
