package calib

import (
	"context"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
)

var (
	experts = flag.Bool("experts", false, "refit the routed experts alone")
	write   = flag.String("write", "", "write the refitted constants into this folder")
)

const operators = "../../../shared/measured/operators"

func needTables(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(operators); err != nil {
		t.Skip("no measured kernel tables: ", err)
	}
}

var whole = flag.Bool("all", false, "refit every generation, not only the one with the fewest rows")

// The stored constants are those of a refit: errors on held-out rows agree. Without -all and
// -write this refits one generation, which exercises every kind of fit but the expert
// exchange; what the constants of all generations predict is held by
// TestStoredConstantsAgainstTheTables and, row by row, by package validate.
func TestRefit(t *testing.T) {
	needTables(t)
	if testing.Short() {
		t.Skip("a refit takes some minutes")
	}
	var r Report
	var err error
	switch {
	case *experts:
		r, err = fitExperts(t.Context(), operators)
	case *whole || *write != "":
		r, err = Fit(t.Context(), operators)
	default:
		r, err = Fit(t.Context(), operators, "ampere")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Tables {
		t.Logf("%-5s %-42s %-22s n=%-5d median %.3f mean %.3f", e.GPU, e.Table, e.What, e.Rows, e.Median, e.Mean)
	}
	if *write != "" {
		if err := r.write(*write); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, k := range r.Kernels {
		compareFits(t, k, catalog.Kernels(k.Arch))
	}
}

// The constants of generations without tables are the means of the stored others.
func TestGenericIsTheMeans(t *testing.T) {
	var list []*hw.Kernels
	for _, g := range generations {
		list = append(list, catalog.Kernels(g.arch))
	}
	want, err := catalog.EncodeKernels(generic(list))
	if err != nil {
		t.Fatal(err)
	}
	got, err := catalog.EncodeKernels(catalog.Kernels("generic"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("generic.json is not the means: run TestRefit with -write ../catalog/data/kernels:\n%s", d)
	}
}

func compareFits(t *testing.T, fitted, stored *hw.Kernels) {
	t.Helper()
	if stored == nil || stored.Arch != fitted.Arch || len(stored.Fits) != len(fitted.Fits) {
		t.Fatalf("%s: the catalogue holds other fits: run this test with -write ../catalog/data/kernels", fitted.Arch)
	}
	for i, f := range fitted.Fits {
		s := stored.Fits[i]
		if f.What != s.What || f.Rows != s.Rows || math.Abs(f.Median-s.Median) > 0.003 || math.Abs(f.Mean-s.Mean) > 0.005 {
			t.Errorf("%s: refitted %+v, stored %+v: run this test with -write ../catalog/data/kernels", fitted.Arch, f, s)
		}
	}
}

// What the product prices, with the devices' own achieved rates as ceilings, must
// stay near the tables: largest allowed median error on rows that training runs.
func TestStoredConstantsAgainstTheTables(t *testing.T) {
	needTables(t)
	for _, g := range generations {
		f := fitter{ctx: t.Context(), dir: operators, gpus: g.gpus}
		for dtype, format := range gemmFormats {
			read := func(t *table, keep func() bool) ([]sample, error) { return gemmSamples(t, dtype, keep) }
			priced(t, &f, "gemm/*.parquet", "gemm "+format.String(), 101, read, 0.18)
		}
		priced(t, &f, "attention/vllm-*context*.parquet", "attention", 17, attentionSamples, 0.12)
		priced(t, &f, "mla/trtllm-*context_mla*.parquet", "mla", 3, attentionSamples, 0.10)
		priced(t, &f, "comm/nccl-*.parquet", "collectives", 2, commSamples, 0.10)
	}
}

func priced(t *testing.T, f *fitter, pattern, what string, every int, read reader, most float64) {
	t.Helper()
	sources, err := f.load(pattern, every, read)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		d, err := catalog.Device(s.gpu)
		if err != nil {
			t.Fatal(err)
		}
		c := &hw.Cluster{Name: s.gpu, Device: d, GPUs: d.DefaultNode.GPUs, Node: d.DefaultNode, Fabric: hw.Fabric{Oversubscription: 1}}
		m, err := cost.New(c, cost.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := engine{name: s.engine.name}
		e.recall(d.Kernels, what)
		var all, large errorsOf
		for i := range s.test {
			x := &s.test[i]
			p := predict(m, &e, x)
			all.add(p, x.seconds)
			if x.weight > 1 || what == "collectives" {
				large.add(p, x.seconds)
			}
		}
		t.Logf("%-5s %-40s %-16s large %.3f, all %.3f median, %.3f mean", s.gpu, s.table, what, large.median(), all.median(), all.mean())
		if large.median() > most {
			t.Errorf("%s %s %s: median error %.3f, at most %.2f", s.gpu, s.table, what, large.median(), most)
		}
	}
}

func TestNoTablesIsAnError(t *testing.T) {
	if _, err := Fit(t.Context(), t.TempDir()); err == nil {
		t.Error("an empty folder: want an error")
	}
}

// fitExperts fits the routed experts of every generation's engines anew and leaves
// all other constants as the catalogue holds them; it takes a part of Fit's time.
func fitExperts(ctx context.Context, dir string) (Report, error) {
	var r Report
	for _, g := range generations {
		k := *catalog.Kernels(g.arch)
		f := fitter{ctx: ctx, dir: dir, gpus: g.gpus, kernels: &k}
		stored := k.Fits
		k.Fits, k.Engines = nil, slices.Clone(k.Engines)
		for i := range k.Engines {
			k.Engines[i].MoE = nil
			if err := f.experts(&k.Engines[i]); err != nil {
				return Report{}, err
			}
		}
		anew := k.Fits
		k.Fits = slices.Clone(stored)
		for i := range k.Fits {
			if at := slices.IndexFunc(anew, func(x hw.Fit) bool { return x.What == k.Fits[i].What }); at >= 0 {
				k.Fits[i] = anew[at]
			}
		}
		r.Kernels = append(r.Kernels, &k)
		r.Tables = append(r.Tables, f.tables...)
	}
	r.Kernels = append(r.Kernels, generic(r.Kernels)) // has the experts of one of them
	return r, nil
}

// write stores one file per generation into the folder, as catalog reads them, with
// the catalogue's sustained shares: whole runs show those, no kernel table (package validate).
func (r *Report) write(dir string) error {
	for _, k := range r.Kernels {
		data, err := catalog.EncodeKernels(k)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, k.Arch+".json"), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// recall sets an engine's overhead around one kind of kernel from constants.
func (e *engine) recall(k *hw.Kernels, what string) {
	for _, o := range k.Overheads {
		if o.Engine == e.name && o.What == what {
			e.fixed, e.perRow, e.perElement = float64(o.Fixed)*1e6, float64(o.PerRow)*1e9, float64(o.PerElement)*1e12
			e.passes, e.host = o.Passes, float64(o.Host)*1e6
		}
	}
}

// Constants are kept where they account for rows that they did not see, and rows settle them.
func TestTablesThatNoFitExplains(t *testing.T) {
	v := 0.0
	knobs := []knob{{&v, 0, 1}, {&v, 0, 1}}
	for _, c := range []struct {
		rows, test int
		median     float64
		says       string
	}{
		{9, 3, Unexplained, ""},
		{9, 3, 1, "off by 100.0 % on the median, more than 27 %, and 2 of 2 lie at an end"},
		{9, 3, math.NaN(), "cannot be explained"},
		{1, 3, 0.1, "1 rows to fit 2 constants"},
		{9, 0, math.NaN(), "and 0 to test them on"},
	} {
		p := &problem{knobs: knobs, sources: []*source{{test: make([]sample, c.test)}}}
		err := p.explained(&hw.Fit{Rows: c.rows, Median: c.median, Tables: []string{"h100/x"}})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Fit(stopped, operators, "ampere"); err == nil {
		t.Error("a stopped fit has a result")
	}
}

// A table of another GPU than its folder's is in no fit.
func TestTablesOfAnotherGPU(t *testing.T) {
	needTables(t)
	paths, err := filepath.Glob(operators + "/a100/gemm/*.parquet")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	if err := ownRows(paths[0], "a100"); err != nil {
		t.Error(err)
	}
	if err := ownRows(paths[0], "h100"); err == nil || !strings.Contains(err.Error(), "row 1: column device is") {
		t.Errorf("in the folder of another GPU: %v", err)
	}
}
