package calib

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
)

// sister is the fitted constants that a GPU gets which nobody measured: those fitted on
// its generation's other GPUs, else the means of the other generations.
func sister(t *testing.T, gpu string) *hw.Kernels {
	t.Helper()
	var others []*hw.Kernels
	for _, g := range generations {
		if !slices.Contains(g.gpus, gpu) {
			others = append(others, catalog.Kernels(g.arch))
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(g.gpus), func(n string) bool { return n == gpu })
		if len(rest) == 0 {
			continue
		}
		f := &fitter{ctx: t.Context(), dir: operators, gpus: rest, kernels: &hw.Kernels{Arch: g.arch, Sustained: catalog.Kernels(g.arch).Sustained}}
		if err := f.all(); err != nil {
			t.Fatal(err)
		}
		return f.kernels
	}
	return generic(others)
}

// Every measured GPU left out in turn: what a GPU with a datasheet alone is predicted with.
// RIDGELINE_LEAVE_OUT=a100,h100,h200,b200
// runs it (minutes: it fits a generation anew for each GPU of two).
func TestLeaveOneGPUOut(t *testing.T) {
	needTables(t)
	if os.Getenv("RIDGELINE_LEAVE_OUT") == "" {
		t.Skip("set RIDGELINE_LEAVE_OUT to the GPUs, for example a100,h100,h200,b200")
	}
	for _, gpu := range strings.Split(os.Getenv("RIDGELINE_LEAVE_OUT"), ",") {
		kernels := sister(t, gpu)
		paths, err := filepath.Glob(filepath.Join(operators, gpu, "*", "*.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]*errorsOf{}
		var ratios []float64 // measured over predicted
		for _, p := range paths {
			scoreWith(t, p, kernels, kinds, &ratios)
		}
		slices.Sort(ratios)
		in := 0
		for _, x := range ratios {
			if x >= unmeasured.Low && x <= unmeasured.High {
				in++
			}
		}
		t.Logf("%-5s measured over predicted: tenths %.3f and %.3f; %.3f within the range of unmeasured kernels", gpu,
			ratios[len(ratios)/10], ratios[len(ratios)*9/10], float64(in)/float64(len(ratios)))
		for _, name := range []string{"gemm", "moe", "context attention", "decode attention", "context mla", "decode mla", "nccl", "custom all-reduce"} {
			e := kinds[name]
			if e == nil {
				continue
			}
			t.Logf("%-5s %-18s n=%-7d median %.3f mean %.3f", gpu, name, len(e.list), e.median(), e.mean())
			// Only the Hopper pair has a sister of its generation.
			if m := e.median(); m > 0.3 && gpu[0] == 'h' {
				t.Errorf("%s %s: median error %.3f when left out", gpu, name, m)
			}
		}
	}
}

// scoreWith is Score with constants that the catalogue does not hold, one row in eleven.
func scoreWith(t *testing.T, path string, kernels *hw.Kernels, kinds map[string]*errorsOf, ratios *[]float64) {
	t.Helper()
	c, k, err := openRows(path)
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := c.gpu(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := tableMachineOf(gpu, engineName(path), k, func(d *hw.Device) { d.Kernels = kernels })
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", path, err))
	}
	e := kinds[k.name]
	if e == nil {
		e = &errorsOf{}
		kinds[k.name] = e
	}
	for i := 0; i < c.rows; i += 11 {
		var x sample
		if k.row(c, i, &x) == "" {
			if p := predict(m, nil, &x); p > 0 && p < maxLatency {
				e.add(p, x.seconds)
				*ratios = append(*ratios, x.seconds/p)
			}
		}
	}
}
