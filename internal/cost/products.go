package cost

import (
	"cmp"
	"slices"
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
				if m.matrix[x.Format] == 0 { // the device runs none of these kernels
					continue
				}
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

// routed prices the experts of a step: with the kernel that the product names, else with
// the fastest of the engine's own for these formats.
func (m *Machine) routed(op *work.Op) (p Price, ok bool) {
	usual := find(m.serving.moe, op)
	if usual == nil {
		return p, false
	}
	p = m.experts(op, usual)
	if op.Kernel == usual.Kernel {
		return p, true
	}
	m.others(usual, func(x *engineProduct) {
		if q := m.experts(op, x); q.Estimate < p.Estimate && op.Kernel == "" || op.Kernel == x.Kernel {
			p = q
		}
	})
	return p, true
}

// others are the engine's kernels that do the same as the usual one. Weights with one
// scale per tensor also fit the kernels for scales per block, the blocks' being equal:
// what vLLM and SGLang run checkpoints with.
func (m *Machine) others(usual *engineProduct, do func(*engineProduct)) {
	for i := range m.serving.moe {
		x := &m.serving.moe[i]
		same := x.Weights == usual.Weights && x.Format == usual.Format
		blocks := usual.Weights == unit.FP8 && x.Weights == unit.FP8Block && x.Format == unit.FP8Block
		if x != usual && x.own && (same || blocks) && !strings.Contains(x.Kernel, ungated) {
			do(x)
		}
	}
}

// ExpertsTimed tells whether a kernel for experts stored in f was, on a generation some were
// timed on: of others see Assumptions.
func (m *Machine) ExpertsTimed(f unit.Format) bool {
	return len(m.serving.moe) == 0 || slices.ContainsFunc(m.serving.moe, func(x engineProduct) bool { return x.Weights == f })
}

// ExpertKernel is the engine's kernel that runs all of the products fastest, "" where it
// has none for them. Where nobody timed any on the generation it is the middle one, the faster of two:
// which of another's kernels an engine would take there is not known, and one of them may suit nothing but its own GPU.
func (m *Machine) ExpertKernel(ops []work.Op) string {
	if len(ops) == 0 || m.options.Engine == "" {
		return ""
	}
	usual := find(m.serving.moe, &ops[0])
	if usual == nil {
		return ""
	}
	type timed struct {
		kernel string
		takes  unit.Seconds
	}
	var list []timed
	add := func(x *engineProduct) {
		t := timed{kernel: x.Kernel}
		for i := range ops {
			t.takes += m.experts(&ops[i], x).Estimate
		}
		list = append(list, t)
	}
	add(usual)
	m.others(usual, add)
	slices.SortStableFunc(list, func(a, b timed) int { return cmp.Compare(a.takes, b.takes) })
	if m.timed {
		return list[0].kernel
	}
	return list[(len(list)-1)/2].kernel
}

// dense prices an engine's dense product with what the engine does around it:
// quantising of the activations, and the host's pace where no CUDA graph runs. What a
// call takes beyond the start of the engine's 16-bit product is quantising as well:
// kernels of its own before the product's.
func (m *Machine) dense(op *work.Op, x *engineProduct) Price {
	p := m.tile(op, &x.rates)
	around := x.PerRow*unit.Seconds(op.M) + x.PerElement*unit.Seconds(op.M*op.K)
	if around > p.Estimate {
		p.Bound, p.Padded = Latency, false
	}
	p.Estimate += around
	p.Upper += around
	p.Start = min(p.Start, m.serving.start)
	p.Around = around + max(x.Launch-p.Start, 0)
	if m.options.Eager && x.Host > p.Estimate {
		p.Estimate, p.Upper, p.Bound, p.Padded = x.Host, max(p.Upper, x.Host), Latency, false
	}
	return p
}
