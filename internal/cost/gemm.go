package cost

import (
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// gemmRates are a format's constants with the device's rates multiplied in.
type gemmRates struct {
	perSM  float64 // FLOP/s of one SM at full efficiency
	memory float64 // bytes/s
	joined float64 // bytes/s of partial sums
	pipes  float64 // see Machine.pipes
	hw.GEMM
}

// shape is the constants of format f, those of a related format where f was not
// measured. The rates stay f's own.
func shape(k *hw.Kernels, f unit.Format) hw.GEMM {
	related := unit.BF16
	switch f {
	case unit.FP8Block, unit.MXFP8, unit.INT8:
		related = unit.FP8
	case unit.MXFP4, unit.INT4:
		related = unit.NVFP4
	}
	for _, of := range [...]unit.Format{f, related, unit.FP8} {
		if k.GEMM[of].Known() {
			return k.GEMM[of]
		}
	}
	return k.GEMM[unit.BF16]
}

// resolveGEMM prepares format f: the generation's share of the peak, but never
// more than the device itself achieved. Constants without a share, and devices
// without constants, keep the achieved rate.
func (m *Machine) resolveGEMM(f unit.Format, g hw.GEMM) {
	m.gemm[f] = m.gemmRates(g, m.matrix[f], m.peakMatrix[f])
}

func (m *Machine) gemmRates(g hw.GEMM, achieved, peak float64) gemmRates {
	if m.sms <= 1 { // nobody said how many: waves, and what one tile takes, are unknown
		g.Step, g.Tiling = 0, hw.WholeK
	}
	r := gemmRates{GEMM: g, memory: m.hbm, pipes: 1}
	fitted := r.slowed()
	r.pipes = m.pipes
	if g.Memory > 0 && m.peakHBM > 0 && !m.options.UsePeak {
		r.memory = min(r.memory, m.peakHBM*g.Memory)
	}
	r.joined = r.memory * g.Partial
	r.perSM = achieved / m.sms
	if achieved > 0 && !m.options.UsePeak {
		// What the device achieved, a product of shape has reached, not the endless one.
		rate := achieved / m.reached(&r)
		if g.Share > 0 && peak > 0 {
			rate = min(rate, peak*g.Share*fitted/r.slowed()) // loads that take as long leave slower pipes a larger share
		}
		r.perSM = rate / m.sms
	}
	return r
}

// reference is the size of a square product that stands for the large ones which
// achieved rates are measured on.
const reference = 8192

// reached is the part of the endless product's rate that the multiplications of a
// reference product keep. Memory stays out of it: a slower HBM must not lift a rate.
func (m *Machine) reached(r *gemmRates) float64 {
	const n = reference
	t, _ := m.tiled(r, n, n, n, 1)
	return 2.0 * n * n * n / (r.perSM * m.sms) / t
}

// product prices Groups products of M x N x K, with the engine's kernels where an
// engine is named and has some.
func (m *Machine) product(op *work.Op) Price {
	if m.vector {
		return m.rowProduct(op)
	}
	if m.options.Engine != "" {
		if op.Kind == work.Grouped {
			if p, ok := m.routed(op); ok {
				return p
			}
		} else if x := find(m.serving.gemm, op); x != nil {
			return m.dense(op, x)
		}
	}
	return m.tile(op, &m.gemm[op.Format])
}

// tile prices a product with one set of constants.
func (m *Machine) tile(op *work.Op, r *gemmRates) Price {
	groups := float64(max(op.Groups, 1))
	k := m.kernel(op, r)
	k.compute, k.executed = m.tiled(r, float64(op.M), float64(op.N), float64(op.K), groups)
	if op.Kind == work.Grouped && r.Grouped > 0 {
		k.compute, k.rate = k.compute/r.Grouped, k.rate*r.Grouped
	}
	k.start = float64(r.Launch)
	return m.price(k)
}

// kernel is what a product is with these constants before its tiles are chosen.
func (m *Machine) kernel(op *work.Op, r *gemmRates) kernel {
	bytes := float64(op.Bytes)
	return kernel{flops: float64(op.FLOPs), bytes: bytes, ceiling: m.matrix[op.Format], rate: r.perSM * m.sms,
		memory: over(bytes, r.memory), overlap: r.Overlap}
}
