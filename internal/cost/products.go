package cost

import (
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// engineProduct is an engine's matrix products of one format with the device's
// rates multiplied in.
type engineProduct struct {
	rates gemmRates
	hw.Product
}

// engineProducts prepares a list of the named engine's products; other engines'
// follow and stand in where it has none.
func (m *Machine) engineProducts(k *hw.Kernels, name string, of func(*hw.Engine) []hw.Product) []engineProduct {
	var out []engineProduct
	for _, own := range [...]bool{true, false} {
		for i := range k.Engines {
			e := &k.Engines[i]
			if (e.Name == name) != own {
				continue
			}
			for _, x := range of(e) {
				out = append(out, engineProduct{m.gemmRates(x.GEMM, m.matrix[x.Format], m.peakMatrix[x.Format]), x})
			}
		}
	}
	return out
}

// find gives the kernel of a product: that of its name, of its formats, of its
// weights' format, in this order; nil = none.
func find(list []engineProduct, op *work.Op) *engineProduct {
	weights, rank := op.Format, 0
	if op.Stored != unit.FP32 {
		weights = op.Stored
	}
	var best *engineProduct
	for i := range list {
		x := &list[i]
		if x.Weights != weights {
			continue
		}
		r := 1
		if x.Format == op.Format {
			r++
		}
		if op.Kernel != "" && op.Kernel == x.Kernel {
			r += 2
		}
		if r > rank {
			best, rank = x, r
		}
	}
	return best
}

// dense prices an engine's dense product with what the engine does around it:
// quantising of the activations, and the host's pace where no CUDA graph runs.
func (m *Machine) dense(op *work.Op, x *engineProduct) Price {
	p := m.tile(op, &x.rates)
	around := x.PerRow*unit.Seconds(op.M) + x.PerElement*unit.Seconds(op.M*op.K)
	p.Estimate += around
	p.Upper += around
	if m.options.Eager && x.Host > p.Estimate {
		p.Estimate, p.Upper, p.Bound = x.Host, max(p.Upper, x.Host), Latency
	}
	return p
}
