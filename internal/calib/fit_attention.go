package calib

import "github.com/ridgeline/ridgeline/internal/hw"

// attention fits the fused core on vLLM's tables, which run the FlashAttention
// library that training uses as well.
func (f *fitter) attention() error {
	sources, err := f.load("attention/vllm-*context*.parquet", everyAttention, attentionSamples)
	if err != nil {
		return err
	}
	a := &f.kernels.Attention
	*a = hw.Attention{Fill: 100, Tail: 0.5}
	shares := [...]float64{0.5, 0.6, 0.6} // up to 64, 128 and above
	refresh := func() { a.Share = [hw.NumHeadDims]float64{shares[0], shares[1], shares[2], shares[2], shares[2]} }
	refresh()
	return f.coreWith("attention", a, sources, refresh, &shares[0], &shares[1], &shares[2])
}

// mla fits latent attention expanded to heads on TensorRT-LLM's tables.
func (f *fitter) mla() error {
	sources, err := f.load("mla/trtllm-*context_mla*.parquet", everyAttention, attentionSamples)
	if err != nil {
		return err
	}
	a := &f.kernels.MLA
	share := 0.6
	*a = hw.Attention{Fill: 100, Tail: 0.5}
	refresh := func() { a.Share = every(share) }
	refresh()
	return f.coreWith("mla", a, sources, refresh, &share)
}

// every gives all head dimensions one value.
func every(v float64) (all [hw.NumHeadDims]float64) {
	for i := range all {
		all[i] = v
	}
	return all
}

func (f *fitter) coreWith(what string, a *hw.Attention, sources []*source, refresh func(), shares ...*float64) error {
	if len(sources) == 0 {
		*a = hw.Attention{}
		return nil
	}
	launch := 5.0
	knobs := []knob{{&a.Fill, 0, 2000}, {&a.Tail, 0, 1}, {&a.Stream, 0, 3}, {&launch, 0, 25}}
	for _, s := range shares {
		knobs = append(knobs, knob{s, 0.2, 1})
	}
	return f.solve(&problem{what: what, sources: sources, knobs: knobs, refresh: func() {
		a.Launch = us(launch)
		refresh()
	}})
}
