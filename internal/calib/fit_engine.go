package calib

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
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
	f.keepShared()
	for i := range f.kernels.Engines {
		e := &f.kernels.Engines[i]
		for _, step := range []func(*hw.Engine) error{f.contexts, f.decodes, f.products, f.experts, f.oneShot} {
			if err := step(e); err != nil {
				return err
			}
		}
		f.keepEngine(e) // a block's rest is told beside its kernels
		if err := f.modules(e); err != nil {
			return err
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
			if err := f.interrupted(); err != nil {
				return nil, err
			}
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
