package calib

import (
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// oneShot fits the engine's own all-reduce.
func (f *fitter) oneShot(e *hw.Engine) error {
	sources, err := f.rows(e.Name, "comm/"+e.Name+"-*custom_allreduce*.parquet", 3, nil)
	if err != nil || len(sources) == 0 {
		return err
	}
	o := &e.AllReduce
	o.Share = 0.7
	start, rank, pass, most, eager := 4.0, 0.1, 3.0, 16.0, 20.0
	knobs := []knob{{&start, 1, 20}, {&rank, 0, 3}, {&pass, 0, 10}, {&o.Share, 0.2, 1}, {&most, 0.1, 1000}, {&eager, 0, 80}}
	return f.solve(&problem{what: e.Name + " all-reduce", sources: sources, knobs: knobs, refresh: func() {
		o.Start, o.Rank, o.Pass, o.Most, o.Eager = us(start), us(rank), us(pass), unit.Bytes(most*1e6), us(eager)
	}})
}

// exchanges fits the expert all-to-all in one domain, on the engine's tables that
// hold it.
func (f *fitter) exchanges() error {
	for _, p := range []struct {
		what, pattern string
		every         int
		to            *hw.Exchange
	}{
		{"exchange", "comm/*deepep_normal*.parquet", 5, &f.kernels.Exchange},
		{"low-latency exchange", "comm/*deepep_ll*.parquet", 2, &f.kernels.LowLatency},
	} {
		sources, err := f.rows("sglang", p.pattern, p.every, nil)
		if err != nil {
			return err
		}
		if len(sources) == 0 {
			continue
		}
		for _, s := range sources {
			s.fit, s.test = apart(s.fit), apart(s.test)
		}
		x := p.to
		*x = hw.Exchange{Share: [2]float64{0.6, 0.6}, PerSM: [2]float64{0.03, 0.03}}
		out, back := 20.0, 30.0
		knobs := []knob{{&out, 1, 100}, {&back, 1, 100}, {&x.Share[0], 0.1, 1}, {&x.Share[1], 0.1, 1}, {&x.PerSM[0], 0.005, 0.2}, {&x.PerSM[1], 0.005, 0.2}}
		if err := f.solve(&problem{what: p.what, sources: sources, knobs: knobs, refresh: func() { x.Start = [2]unit.Seconds{us(out), us(back)} }}); err != nil {
			return err
		}
	}
	return nil
}

// apart makes the two ways of an exchange samples of their own.
func apart(list []sample) []sample {
	var out []sample
	for _, x := range list {
		for i := range x.ops {
			out = append(out, sample{ops: x.ops[i : i+1], seconds: x.ways[i], weight: 1})
		}
	}
	return out
}
