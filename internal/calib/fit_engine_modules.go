package calib

import (
	"github.com/ridgeline/ridgeline/internal/hw"
)

// modules fits what a latent-attention block spends beside its kernels. An engine
// without tables of the core alone gets the core's constants from the blocks.
func (f *fitter) modules(e *hw.Engine) error {
	for i := range e.MLA {
		if e.MLA[i].Launch > 0 {
			continue
		}
		sources, err := f.rows(e.Name, "mla/"+e.Name+"-*mla_context_module*.parquet", everyModule, operandsAre("mla_dtype", i))
		if err == nil {
			err = f.context(e.Name+" context mla in module"+operandNames[i], sources, &e.MLA[i], true, &e.Module[hw.ContextModule])
		}
		if err != nil {
			return err
		}
	}
	for i := range e.Latent {
		if e.Latent[i].Known() {
			continue
		}
		sources, err := f.rows(e.Name, "mla/"+e.Name+"-*mla_generation_module*.parquet", everyModule, cacheIs("mla_dtype", i))
		if err == nil {
			err = f.decode(e.Name+" decode mla in module"+cacheNames[i], sources, &e.Latent[i], true, &e.Module[hw.DecodeModule])
		}
		if err != nil {
			return err
		}
	}
	for _, p := range []struct {
		what, pattern string
		to            *hw.Module
	}{
		{"mla context module", "mla/" + e.Name + "-*mla_context_module*.parquet", &e.Module[hw.ContextModule]},
		{"mla decode module", "mla/" + e.Name + "-*mla_generation_module*.parquet", &e.Module[hw.DecodeModule]},
	} {
		sources, err := f.rows(e.Name, p.pattern, everyModule, nil)
		if err != nil {
			return err
		}
		if len(sources) == 0 {
			continue
		}
		rest, host := 10.0, 0.0
		if err := f.solve(&problem{what: e.Name + " " + p.what, sources: sources, knobs: []knob{{&rest, 0.1, 100}, {&host, 0, 400}}, refresh: func() {
			*p.to = hw.Module{Rest: us(rest), Host: us(host)}
		}}); err != nil {
			return err
		}
	}
	return nil
}
