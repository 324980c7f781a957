package calib

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Report is the outcome of a fit: constants per generation, and how well they
// predict the rows of every table that were kept out of the fit.
type Report struct {
	Kernels []*hw.Kernels
	Tables  []TableError
	Kept    []string // fits of the catalogue that stand where the folder has no tables
}

// generations are the GPUs whose tables share one set of constants.
var generations = []struct {
	arch string
	gpus []string
}{
	{"ampere", []string{"a100"}},
	{"hopper", []string{"h100", "h200"}},
	{"blackwell", []string{"b200"}},
}

// Fit reads a folder of kernel tables, <gpu>/<kind>/*.parquet, and fits the
// constants of every generation in it from nothing, or of those named, whose blocks without tables keep the
// catalogue's constants; generations side by side. The means for generations without tables need all of them. Rows of another GPU than their folder's, tables that
// the constants cannot explain, and the end of ctx are errors.
func Fit(ctx context.Context, dir string, archs ...string) (Report, error) {
	var fitters []*fitter
	errs := make([]error, len(generations))
	var wg sync.WaitGroup
	for i, g := range generations {
		if len(archs) > 0 && !slices.Contains(archs, g.arch) {
			continue
		}
		f := &fitter{ctx: ctx, dir: dir, gpus: g.gpus, kernels: &hw.Kernels{Arch: g.arch, SMPeak: catalog.Kernels(g.arch).SMPeak, Sustained: catalog.Kernels(g.arch).Sustained}}
		if len(archs) > 0 {
			f.base = catalog.Kernels(g.arch)
		}
		fitters = append(fitters, f)
		wg.Go(func() {
			errs[i] = f.all()
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return Report{}, err
	}
	var r Report
	for _, f := range fitters {
		if len(f.kernels.Fits) > 0 {
			r.Kept = append(r.Kept, f.keepOrigins()...)
			r.Kernels = append(r.Kernels, f.kernels)
			r.Tables = append(r.Tables, f.tables...)
		}
	}
	if len(r.Kernels) == 0 {
		of := ""
		if len(archs) > 0 {
			of = " of " + strings.Join(archs, " and ")
		}
		return Report{}, fmt.Errorf("%s: no kernel tables%s: give a folder with <gpu>/<kind>/*.parquet", dir, of)
	}
	if len(archs) == 0 {
		r.Kernels = append(r.Kernels, generic(r.Kernels))
	}
	return r, nil
}

// fitter fits one generation, one block of constants after the other.
type fitter struct {
	ctx     context.Context // of the call that fits; ends it early
	dir     string
	gpus    []string
	kernels *hw.Kernels
	base    *hw.Kernels // of the catalogue, for blocks without tables; nil = none
	tables  []TableError
}

// all fits every block of constants, those that others build on first.
func (f *fitter) all() error {
	for _, step := range []func() error{f.own, f.gemms, f.attention, f.mla, f.collectives, f.engines} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// interrupted is the error of a call that was ended early.
func (f *fitter) interrupted() error {
	if f.ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("while fitting kernels, nothing is written: %w", f.ctx.Err())
}

// own refuses tables of another GPU than their folder's, as Score does its rows.
func (f *fitter) own() error {
	for _, gpu := range f.gpus {
		paths, err := filepath.Glob(filepath.Join(f.dir, gpu, "*", "*.parquet"))
		if err != nil {
			return err
		}
		for _, p := range paths {
			if err := f.interrupted(); err != nil {
				return err
			}
			if err := ownRows(p, gpu); err != nil {
				return err
			}
		}
	}
	return nil
}

func ownRows(path, gpu string) error {
	t, file, err := openTable(path)
	if err != nil {
		return err
	}
	defer file.Close()
	c := &cells{table: t}
	if c.device, err = t.devices(); err != nil {
		return err
	}
	known := map[string]string{}
	for i := range c.device {
		if why := c.elsewhere(i, gpu, known); why != "" {
			return fmt.Errorf("%s/%s: row %d: %s", gpu, t.name, i+1, why)
		}
	}
	return nil
}

// reader turns a table's rows into samples; keep thins them.
type reader func(t *table, keep func() bool) ([]sample, error)

// load reads the tables <gpu>/<pattern> for a fit, one row in every; another row
// in every is kept out for the test. Tables without such rows are left out.
func (f *fitter) load(pattern string, every int, read reader) ([]*source, error) {
	var out []*source
	engines := map[string]*engine{}
	for _, gpu := range f.gpus {
		paths, err := filepath.Glob(filepath.Join(f.dir, gpu, pattern))
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			if err := f.interrupted(); err != nil {
				return nil, err
			}
			s, err := loadSource(gpu, p, every, read)
			if err != nil {
				return nil, err
			}
			if len(s.fit) == 0 {
				continue
			}
			name, _, _ := strings.Cut(s.table, "-")
			if engines[name] == nil {
				engines[name] = &engine{name: name}
			}
			s.engine = engines[name]
			out = append(out, s)
		}
	}
	return out, nil
}

func loadSource(gpu, path string, every int, read reader) (*source, error) {
	t, file, err := openTable(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s := &source{gpu: gpu, table: strings.TrimSuffix(filepath.Base(path), "_perf.parquet")}
	if s.fit, err = read(t, oneIn(every, 0)); err != nil {
		return nil, err
	}
	if s.test, err = read(t, oneIn(every, every/2)); err != nil {
		return nil, err
	}
	s.cluster, err = bare(gpu)
	return s, err
}

// oneIn keeps every n-th row, beginning with row at.
func oneIn(n, at int) func() bool {
	i := -1
	return func() bool { i++; return i%n == at }
}

// bare is one GPU whose achieved rates are its peaks, so that nothing but the
// constants decides.
func bare(gpu string) (*hw.Cluster, error) {
	d, err := catalog.Device(gpu)
	if err != nil {
		return nil, err
	}
	p := &d.Peak
	if !p.Matrix[unit.FP8Block].Known() { // block-scaled FP8 runs on the FP8 units
		p.Matrix[unit.FP8Block] = p.Matrix[unit.FP8]
	}
	d.Achieved = hw.Achieved{Matrix: p.Matrix, HBM: p.HBM}
	return &hw.Cluster{Name: gpu, Device: d, GPUs: 1, Node: hw.NodeSpec{GPUs: 1}, Fabric: hw.Fabric{Oversubscription: 1}}, nil
}

// solve runs a problem and books its origin and errors.
func (f *fitter) solve(p *problem) error { return f.solveFrom(p, 1, func(int) {}) }

// solveFrom runs a problem from n starts, each set by begin, and keeps the best end.
func (f *fitter) solveFrom(p *problem, n int, begin func(i int)) error {
	if len(p.sources) == 0 {
		return nil
	}
	p.kernels, p.ctx = f.kernels, f.ctx
	for _, s := range p.sources {
		if name := s.cluster.Device.Name; !slices.Contains(f.kernels.Devices, name) {
			f.kernels.Devices = append(f.kernels.Devices, name)
		}
	}
	fit, tables, err := p.solve(n, begin)
	if err := f.interrupted(); err != nil {
		return err
	}
	if err == nil {
		err = p.explained(&fit)
	}
	if err != nil {
		return fmt.Errorf("%s of %s: %w", p.what, f.kernels.Arch, err)
	}
	f.kernels.Fits = append(f.kernels.Fits, fit)
	f.tables = append(f.tables, tables...)
	done := map[*engine]bool{}
	for _, s := range p.sources {
		if e := s.engine; e != nil && !done[e] && *e != (engine{name: e.name}) {
			f.kernels.Overheads = append(f.kernels.Overheads, e.overhead(p.what))
			done[e] = true
		}
	}
	return nil
}

// us makes a knob value in microseconds a constant in seconds.
func us(v float64) unit.Seconds { return unit.Seconds(math.Round(v*1e3) / 1e3 * 1e-6) }
