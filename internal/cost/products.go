package cost

import (
	"strings"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// engineProduct is an engine's matrix products of one format with the device's
// rates multiplied in.
type engineProduct struct {
	rates gemmRates
	own   bool // the named engine's
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
				out = append(out, engineProduct{m.gemmRates(x.GEMM, m.matrix[x.Format], m.peakMatrix[x.Format]), own, x})
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

// ungated marks kernels of experts without a gate, which no catalogued model has.
const ungated = "nongated"

// routed prices the experts of a step. A product that names its kernel gets it; else
// the engine takes the fastest of its own for these formats, as their choice depends
// on the tokens. Weights with one scale per tensor also fit the kernels for scales
// per block, the blocks' being equal: what vLLM and SGLang run checkpoints with.
func (m *Machine) routed(op *work.Op) (p Price, ok bool) {
	list := m.serving.moe
	usual := find(list, op)
	if usual == nil {
		return p, false
	}
	p = m.experts(op, usual)
	if op.Kernel != "" {
		return p, true
	}
	for i := range list {
		x := &list[i]
		same := x.Weights == usual.Weights && x.Format == usual.Format
		blocks := usual.Weights == unit.FP8 && x.Weights == unit.FP8Block && x.Format == unit.FP8Block
		if x == usual || !x.own || !same && !blocks || strings.Contains(x.Kernel, ungated) {
			continue
		}
		if q := m.experts(op, x); q.Estimate < p.Estimate {
			p = q
		}
	}
	return p, true
}

// dense prices an engine's dense product with what the engine does around it:
// quantising of the activations, and the host's pace where no CUDA graph runs. What a
// call takes beyond the start of the engine's 16-bit product is quantising as well:
// kernels of its own before the product's.
func (m *Machine) dense(op *work.Op, x *engineProduct) Price {
	p := m.tile(op, &x.rates)
	around := x.PerRow*unit.Seconds(op.M) + x.PerElement*unit.Seconds(op.M*op.K)
	p.Estimate += around
	p.Upper += around
	p.Start = min(p.Start, m.serving.start)
	p.Around = around + max(x.Launch-p.Start, 0)
	if m.options.Eager && x.Host > p.Estimate {
		p.Estimate, p.Upper, p.Bound = x.Host, max(p.Upper, x.Host), Latency
	}
	return p
}
