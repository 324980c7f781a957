package calib

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

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
