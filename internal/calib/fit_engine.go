package calib

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Thinning of the tables of serving kernels.
const (
	everyContext = 41
	everyDecode  = 37
	everyExperts = 23
	everySmall   = 3 // latent attention
	everyModule  = 7
)

// engines fits the kernels of every serving engine with tables of this generation,
// on top of the constants that training shares.
func (f *fitter) engines() error {
	for _, name := range []string{"vllm", "trtllm", "sglang"} {
		f.kernels.Engines = append(f.kernels.Engines, hw.Engine{Name: name})
	}
	for i := range f.kernels.Engines {
		e := &f.kernels.Engines[i]
		for _, step := range []func(*hw.Engine) error{f.contexts, f.decodes, f.experts, f.oneShot, f.modules} {
			if err := step(e); err != nil {
				return err
			}
		}
	}
	f.kernels.Engines = slices.DeleteFunc(f.kernels.Engines, func(e hw.Engine) bool { return !e.Decode.Known() && len(e.MoE) == 0 })
	return f.exchanges()
}

// rows reads the tables <gpu>/<pattern> as the product prices them: the device's
// achieved rates are ceilings, and a node is what the catalogue says.
func (f *fitter) rows(engine, pattern string, every int, want func(c *cells, i int) bool) ([]*source, error) {
	var out []*source
	for _, gpu := range f.gpus {
		paths, err := filepath.Glob(filepath.Join(f.dir, gpu, pattern))
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			s := &source{gpu: gpu, table: strings.TrimSuffix(filepath.Base(p), "_perf.parquet"), options: cost.Options{Engine: engine}}
			if err := s.read(p, every, want); err != nil {
				return nil, err
			}
			if len(s.fit) == 0 {
				continue
			}
			d, err := catalog.Device(gpu)
			if err != nil {
				return nil, err
			}
			s.cluster = &hw.Cluster{Name: gpu, Device: d, GPUs: d.DefaultNode.GPUs, Node: d.DefaultNode, Fabric: hw.Fabric{Oversubscription: 1}}
			out = append(out, s)
		}
	}
	return out, nil
}

// read keeps one row in every for the fit and another for the test.
func (s *source) read(path string, every int, want func(c *cells, i int) bool) error {
	c, k, err := openRows(path)
	if err != nil {
		return err
	}
	n := -1
	for i := range c.rows {
		if want != nil && !want(c, i) {
			continue
		}
		n++
		if n%every != 0 && n%every != every/2 {
			continue
		}
		x := sample{weight: 1}
		if why := k.row(c, i, &x); why != "" {
			return fmt.Errorf("%s: row %d: %s", c.name, i+1, why)
		}
		if n%every == 0 {
			s.fit = append(s.fit, x)
		} else {
			s.test = append(s.test, x)
		}
	}
	return nil
}

// core16 and core8 choose rows by the format of the core's products; dimensions
// above the largest tabled one run on other kernels.
func core16(c *cells, i int) bool {
	return c.is("attn_dtype", i) != "fp8" && c.at("head_dim", i) <= hw.HeadDims[hw.NumHeadDims-1]
}

func core8(c *cells, i int) bool {
	return c.is("attn_dtype", i) == "fp8" && c.at("head_dim", i) <= hw.HeadDims[hw.NumHeadDims-1]
}

// contexts fits the engine's cores over prompts.
func (f *fitter) contexts(e *hw.Engine) error {
	for _, p := range []struct {
		what, pattern string
		every         int
		want          func(c *cells, i int) bool
		to            *hw.Attention
		one           bool // a single head dimension
	}{
		{"context", "attention/" + e.Name + "-*context*.parquet", everyContext, core16, &e.Context, false},
		{"context 8-bit", "attention/" + e.Name + "-*context*.parquet", everyContext, core8, &e.Context8, false},
		{"context mla", "mla/" + e.Name + "-*context_mla_perf.parquet", everySmall, nil, &e.MLA, true},
	} {
		sources, err := f.rows(e.Name, p.pattern, p.every, p.want)
		if err != nil {
			return err
		}
		if len(sources) == 0 {
			continue
		}
		a := p.to
		*a = hw.Attention{Share: [hw.NumHeadDims]float64{0.5, 0.6, 0.6}, Fill: 100, Tail: 0.5}
		launch := 10.0
		knobs := []knob{{&a.Fill, 0, 2000}, {&a.Tail, 0, 1}, {&a.Stream, 0, 3}, {&launch, 1, 400}}
		refresh := func() { a.Launch = us(launch) }
		if p.one {
			share := 0.6
			knobs = append(knobs, knob{&share, 0.02, 1})
			refresh = func() { a.Launch = us(launch); a.Share = [hw.NumHeadDims]float64{share, share, share} }
		} else {
			for i := range a.Share {
				knobs = append(knobs, knob{&a.Share[i], 0.1, 1})
			}
		}
		if err := f.solve(&problem{what: e.Name + " " + p.what, sources: sources, knobs: knobs, refresh: refresh}); err != nil {
			return err
		}
	}
	return nil
}

// decodes fits the engine's cores of one query token per sequence.
func (f *fitter) decodes(e *hw.Engine) error {
	for _, p := range []struct {
		what, pattern string
		every         int
		to            *hw.Decode
	}{
		{"decode", "attention/" + e.Name + "-*generation_attention*.parquet", everyDecode, &e.Decode},
		{"decode mla", "mla/" + e.Name + "-*generation_mla_perf.parquet", everySmall, &e.Latent},
	} {
		sources, err := f.rows(e.Name, p.pattern, p.every, nil)
		if err != nil {
			return err
		}
		if len(sources) == 0 {
			continue
		}
		d := p.to
		*d = hw.Decode{Share: 0.4, Pad: 8, Memory: 0.85, Cache8: 0.9, Reach: 3, Split: 512, NearRate: 1.5}
		item, join, launch, near := 2.0, 2.0, 8.0, 40.0
		knobs := []knob{{&d.Share, 0.01, 1}, {&d.Pad, 0, 128}, {&d.Memory, 0.05, 1}, {&d.Cache8, 0.3, 1}, {&d.Reach, 0.2, 20}, {&d.Split, 16, 4096},
			{&d.Overlap, 0, 1}, {&item, 0, 20}, {&join, 0, 20}, {&launch, 1, 400}, {&near, 0, 200}, {&d.NearRate, 1, 4}}
		refresh := func() {
			d.Item, d.Join, d.Launch, d.Near = us(item), us(join), us(launch), unit.Bytes(near*1e6)
		}
		if err := f.solve(&problem{what: e.Name + " " + p.what, sources: sources, knobs: knobs, refresh: refresh}); err != nil {
			return err
		}
	}
	return nil
}

// expertKernel is one kernel of the MoE tables.
type expertKernel struct{ kernel, dtype string }

// experts fits every kernel and weight format of the engine's MoE tables, the
// commonest kernel of a format first.
func (f *fitter) experts(e *hw.Engine) error {
	count := map[expertKernel]int{}
	pattern := "moe/" + e.Name + "-*.parquet"
	_, err := f.rows(e.Name, pattern, 1<<30, func(c *cells, i int) bool {
		count[expertKernel{c.is("kernel_source", i), c.is("moe_dtype", i)}]++
		return false
	})
	if err != nil {
		return err
	}
	var list []expertKernel
	for k := range count {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b expertKernel) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a.kernel+a.dtype, b.kernel+b.dtype)
	})
	for _, k := range list {
		sources, err := f.rows(e.Name, pattern, everyExperts, func(c *cells, i int) bool {
			return c.is("kernel_source", i) == k.kernel && c.is("moe_dtype", i) == k.dtype
		})
		if err != nil {
			return err
		}
		if err := f.expert(e, k, sources); err != nil {
			return err
		}
	}
	return nil
}

func (f *fitter) expert(e *hw.Engine, k expertKernel, sources []*source) error {
	format := formats[k.dtype]
	x := hw.MoE{Kernel: k.kernel, Product: format.product, Weights: format.product}
	if format.stored != unit.FP32 {
		x.Weights = format.stored
	}
	x.GEMM = hw.GEMM{Share: 0.6, Fill: 200, Edge: 20, Quant: 0.5, Overlap: 0.3, Memory: 0.8}
	e.MoE = append(e.MoE, x)
	g := &e.MoE[len(e.MoE)-1]
	launch, expert := 8.0, 10.0
	knobs := []knob{{&g.Share, 0.05, 1}, {&g.Fill, 0, 4000}, {&g.Edge, 0, 300}, {&g.Quant, 0, 1}, {&g.Overlap, 0, 1}, {&g.Memory, 0.1, 1},
		{&launch, 0.5, 200}, {&g.Passes, 0, 8}, {&expert, 0, 1000}}
	return f.solve(&problem{what: e.Name + " moe " + k.dtype + " " + k.kernel, sources: sources, knobs: knobs, refresh: func() {
		g.Launch, g.Expert = us(launch), us(expert/1e3)
	}})
}

// oneShot fits the engine's own all-reduce.
func (f *fitter) oneShot(e *hw.Engine) error {
	sources, err := f.rows(e.Name, "comm/"+e.Name+"-*custom_allreduce*.parquet", 2, nil)
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

// modules fits what a latent-attention block spends beside its kernels.
func (f *fitter) modules(e *hw.Engine) error {
	for _, p := range []struct {
		what, pattern string
		to            *unit.Seconds
	}{
		{"mla context module", "mla/" + e.Name + "-*mla_context_module*.parquet", &e.ModuleContext},
		{"mla decode module", "mla/" + e.Name + "-*mla_generation_module*.parquet", &e.ModuleDecode},
	} {
		sources, err := f.rows(e.Name, p.pattern, everyModule, nil)
		if err != nil {
			return err
		}
		if len(sources) == 0 {
			continue
		}
		rest := 10.0
		if err := f.solve(&problem{what: e.Name + " " + p.what, sources: sources, knobs: []knob{{&rest, 0.1, 400}}, refresh: func() { *p.to = us(rest) }}); err != nil {
			return err
		}
	}
	return nil
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
