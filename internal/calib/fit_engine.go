package calib

import (
	"cmp"
	"fmt"
	"math"
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
		for _, step := range []func(*hw.Engine) error{f.contexts, f.decodes, f.products, f.experts, f.oneShot, f.modules} {
			if err := step(e); err != nil {
				return err
			}
		}
	}
	f.kernels.Engines = slices.DeleteFunc(f.kernels.Engines, func(e hw.Engine) bool { return !e.Decode[0].Known() && len(e.MoE) == 0 })
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

// operandNames and cacheNames follow hw.Operands and hw.NumCaches.
var (
	operandNames = [hw.NumOperands]string{"", " 8-bit cache", " 8-bit"}
	cacheNames   = [hw.NumCaches]string{"", " 8-bit cache"}
)

// operandsAre chooses rows by the formats of the core and its cache.
func operandsAre(column string, want int) func(c *cells, i int) bool {
	return func(c *cells, i int) bool {
		core, cache, why := c.operands(column, i)
		return why == "" && hw.Operands(core, cache) == want
	}
}

// cacheIs chooses rows by the cache's format alone.
func cacheIs(column string, want int) func(c *cells, i int) bool {
	return func(c *cells, i int) bool {
		_, cache, why := c.operands(column, i)
		return why == "" && (cache.Bits() <= 8) == (want == 1)
	}
}

// contexts fits the engine's cores over prompts.
func (f *fitter) contexts(e *hw.Engine) error {
	for i := range hw.NumOperands {
		sources, err := f.rows(e.Name, "attention/"+e.Name+"-*context*.parquet", everyContext, operandsAre("attn_dtype", i))
		if err != nil {
			return err
		}
		if err := f.context(e.Name+" context"+operandNames[i], sources, &e.Context[i], false, nil); err != nil {
			return err
		}
		if sources, err = f.rows(e.Name, "mla/"+e.Name+"-*context_mla_perf.parquet", everySmall, operandsAre("mla_dtype", i)); err != nil {
			return err
		}
		if err := f.context(e.Name+" context mla"+operandNames[i], sources, &e.MLA[i], true, nil); err != nil {
			return err
		}
	}
	return nil
}

// context fits one core; one shares a rate among all head dimensions; module, if
// not nil, is the rest of the block that the rows hold besides.
func (f *fitter) context(what string, sources []*source, a *hw.Attention, one bool, module *hw.Module) error {
	if len(sources) == 0 {
		return nil
	}
	*a = hw.Attention{Fill: 100, Tail: 0.5, Share: every(0.6)}
	launch, item, share := 10.0, 0.5, 0.6
	knobs := []knob{{&a.Fill, 0, 2000}, {&a.Tail, 0, 1}, {&a.Stream, 0, 3}, {&launch, 1, 400}, {&item, 0, 20}}
	rest, host := 20.0, 0.0
	if module != nil {
		knobs = append(knobs, knob{&rest, 0.1, 100}, knob{&host, 0, 400})
	}
	if one {
		knobs = append(knobs, knob{&share, 0.02, 1})
	} else {
		for i := range a.Share {
			if holds(sources, i) {
				knobs = append(knobs, knob{&a.Share[i], 0.02, 1})
			}
		}
	}
	return f.solve(&problem{what: what, sources: sources, knobs: knobs, refresh: func() {
		a.Launch, a.Item = us(launch), us(item)
		if module != nil {
			*module = hw.Module{Rest: us(rest), Host: us(host)}
		}
		if one {
			a.Share = every(share)
		}
	}})
}

// holds tells whether rows of the head dimension with this index are among the sources.
func holds(sources []*source, index int) bool {
	for _, s := range sources {
		for i := range s.fit {
			d := s.fit[i].ops[0].HeadDim
			if d <= hw.HeadDims[index] && (index == 0 || d > hw.HeadDims[index-1]) {
				return true
			}
		}
	}
	return false
}

// decodes fits the engine's cores of one query token per sequence.
func (f *fitter) decodes(e *hw.Engine) error {
	for i := range hw.NumCaches {
		sources, err := f.rows(e.Name, "attention/"+e.Name+"-*generation_attention*.parquet", everyDecode, cacheIs("attn_dtype", i))
		if err != nil {
			return err
		}
		if err := f.decode(e.Name+" decode"+cacheNames[i], sources, &e.Decode[i], false, nil); err != nil {
			return err
		}
		if sources, err = f.rows(e.Name, "mla/"+e.Name+"-*generation_mla_perf.parquet", everySmall, cacheIs("mla_dtype", i)); err != nil {
			return err
		}
		if err := f.decode(e.Name+" decode mla"+cacheNames[i], sources, &e.Latent[i], true, nil); err != nil {
			return err
		}
	}
	return nil
}

// starts are where the search of a decode's constants begins: with the cache's
// stream or with the products as the ceiling, and with or without a warm L2. The
// best end is kept, since a pattern search stays in the valley it begins in.
var starts = []struct{ share, pad, memory, near, nearRate, group, groupRate float64 }{
	{0.6, 8, 0.8, 40, 1.8, 0, 1},
	{0.3, 60, 0.9, 40, 1.2, 0, 1},
	{0.6, 8, 0.8, 40, 1.8, 32, 2},
}

// decode fits one core; one shares a rate among all head dimensions; module, if not
// nil, is the rest of the block that the rows hold besides.
func (f *fitter) decode(what string, sources []*source, d *hw.Decode, one bool, module *hw.Module) error {
	if len(sources) == 0 {
		return nil
	}
	var item, join, launch, near, memory, rest, host float64
	p := &problem{what: what, sources: sources, refresh: func() {
		d.Item, d.Join, d.Launch, d.Near = us(item), us(join), us(launch), unit.Bytes(near*1e6)
		if module != nil {
			*module = hw.Module{Rest: us(rest), Host: us(host)}
		}
		if one {
			d.Memory = every(memory)
		}
	}}
	p.knobs = []knob{{&d.Share, 0.01, 1}, {&d.Pad, 0, 128}, {&d.Reach, 0.2, 20}, {&d.Split, 16, 4096}, {&d.Overlap, 0, 1},
		{&item, 0, 20}, {&join, 0, 20}, {&launch, 1, 400}, {&near, 0, 200}, {&d.NearRate, 1, 4}}
	if one {
		p.knobs = append(p.knobs, knob{&memory, 0.02, 1})
	} else {
		for i := range d.Memory {
			if holds(sources, i) {
				p.knobs = append(p.knobs, knob{&d.Memory[i], 0.02, 1})
			}
		}
	}
	if module != nil {
		p.knobs = append(p.knobs, knob{&rest, 0.1, 100}, knob{&host, 0, 400})
	}
	plain := p.knobs
	return f.solveFrom(p, len(starts), func(i int) {
		s := starts[i]
		*d = hw.Decode{Share: s.share, Pad: s.pad, Memory: every(s.memory), Reach: 3, Split: 512, NearRate: s.nearRate, Group: s.group, GroupRate: s.groupRate}
		item, join, launch, near, memory, rest, host = 2, 2, 8, s.near, s.memory, 20, 0
		p.knobs = plain
		if s.group > 0 {
			p.knobs = append(plain[:len(plain):len(plain)], knob{&d.Group, 1, 129}, knob{&d.GroupRate, 0.1, 6})
		}
	})
}

// products fits every kernel and format of the engine's GEMM tables, with what the
// engine does around them, the commonest kernel of a format first.
func (f *fitter) products(e *hw.Engine) error {
	pattern := "gemm/" + e.Name + "-*.parquet"
	list, err := f.kernelsOf(e.Name, pattern, "gemm_dtype")
	if err != nil {
		return err
	}
	for _, k := range list {
		sources, err := f.rows(e.Name, pattern, everyGEMM, k.row("gemm_dtype"))
		if err != nil {
			return err
		}
		for _, s := range sources {
			s.options.Eager = true
		}
		if err := f.product(e, k, sources); err != nil {
			return err
		}
	}
	return nil
}

// hostBound is the least time of a table, in seconds, from which the host paces its
// small rows: no kernel's launch takes as long. The launch then cannot be seen, and
// the one that all engines share stands in.
const hostBound = 40e-6

// fastest is the least time of the rows, in seconds.
func fastest(sources []*source) float64 {
	least := math.Inf(1)
	for _, s := range sources {
		for i := range s.fit {
			least = min(least, s.fit[i].seconds)
		}
	}
	return least
}

func (f *fitter) product(e *hw.Engine, k kernelOf, sources []*source) error {
	e.GEMM = append(e.GEMM, k.product())
	g := &e.GEMM[len(e.GEMM)-1]
	known := f.kernels.GEMM[g.Format].Launch
	if fastest(sources) < hostBound {
		known = 0
	}
	t := newProduct(&g.GEMM, known)
	row, element, host := 0.1, 0.1, 0.0
	own := []knob{{&row, 0, 12}, {&element, 0, 8}, {&host, 0, 400}}
	return f.solveTilings(&problem{what: e.Name + " gemm " + k.dtype + " " + k.kernel, sources: sources, refresh: func() {
		t.refresh()
		g.Host, g.PerRow, g.PerElement = us(host), unit.Seconds(row*1e-9), unit.Seconds(element*1e-12)
	}}, t, own)
}

// kernelOf is one kernel of a table and its format.
type kernelOf struct{ kernel, dtype string }

// row chooses the kernel's rows.
func (k kernelOf) row(dtype string) func(c *cells, i int) bool {
	return func(c *cells, i int) bool { return c.is("kernel_source", i) == k.kernel && c.is(dtype, i) == k.dtype }
}

func (k kernelOf) product() hw.Product {
	format := formats[k.dtype]
	x := hw.Product{Kernel: k.kernel, Format: format.product, Weights: format.product}
	if format.stored != unit.FP32 {
		x.Weights = format.stored
	}
	return x
}

// kernelsOf lists the kernels of an engine's tables, the commonest first.
func (f *fitter) kernelsOf(engine, pattern, dtype string) ([]kernelOf, error) {
	count := map[kernelOf]int{}
	_, err := f.rows(engine, pattern, 1<<30, func(c *cells, i int) bool {
		count[kernelOf{c.is("kernel_source", i), c.is(dtype, i)}]++
		return false
	})
	if err != nil {
		return nil, err
	}
	var list []kernelOf
	for k := range count {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b kernelOf) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a.kernel+a.dtype, b.kernel+b.dtype))
	})
	return list, nil
}

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
