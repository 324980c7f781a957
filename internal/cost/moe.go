package cost

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// resolveMoE prepares the engine's fused experts; another engine's stand in where
// the named one has none.
func (m *Machine) resolveMoE(k *hw.Kernels, name string) {
	s := &m.serving
	for _, mine := range [...]bool{true, false} {
		for i := range k.Engines {
			e := &k.Engines[i]
			if (e.Name == name) != mine {
				continue
			}
			for _, x := range e.MoE {
				s.moeOf = append(s.moeOf, x)
				s.moe = append(s.moe, m.gemmRates(x.GEMM, m.matrix[x.Product], m.peakMatrix[x.Product]))
			}
		}
	}
}

// experts prices one of the two grouped products of the engine's fused routed
// experts, permutation, activation and weighted sum included.
func (m *Machine) experts(op *work.Op) (Price, bool) {
	at := m.fused(op)
	if at < 0 {
		return Price{}, false
	}
	r, x := &m.serving.moe[at], &m.serving.moeOf[at]
	rows, touched := op.Rows, op.Touched
	if rows == 0 {
		rows, touched = float64(op.M*op.Groups), float64(op.Groups)
	}
	compute := m.spread(r, rows, touched, float64(op.N), float64(op.K))
	memory := over(float64(op.Bytes), r.memory)
	start := float64(r.Launch) + float64(x.Expert)*touched + x.Passes*2*rows*float64(op.N+op.K)/m.hbm
	return m.price(float64(op.FLOPs), m.matrix[op.Format], float64(op.Bytes), compute, memory, r.Overlap, start), true
}

// fused finds the kernel of a product: that of its name, of its formats, of its
// weights' format, in this order; -1 = none.
func (m *Machine) fused(op *work.Op) int {
	weights, at, rank := op.Format, -1, 0
	if op.Stored != unit.FP32 {
		weights = op.Stored
	}
	for i := range m.serving.moeOf {
		x := &m.serving.moeOf[i]
		if x.Weights != weights {
			continue
		}
		r := 1
		if x.Product == op.Format {
			r++
		}
		if op.Kernel != "" && op.Kernel == x.Kernel {
			r += 2
		}
		if r > rank {
			at, rank = i, r
		}
	}
	return at
}

// spread is tiled for groups of unequal loads: rows in all on touched groups. A
// group's rows are taken as exponentially spread around their mean, of which
// ceil(rows/tm) has the mean 1/(1 - exp(-tm/mean)).
func (m *Machine) spread(r *gemmRates, rows, touched, cols, k float64) float64 {
	if r.perSM <= 0 {
		return math.Inf(1)
	}
	if touched <= 0 {
		return 0
	}
	best := math.Inf(1)
	mean := rows / touched
	for i := range tiles {
		tm, tn := tiles[i].m, tiles[i].n
		count := touched / -math.Expm1(-tm/mean) * math.Ceil(cols/tn)
		waves := count / m.sms
		if waves < 1 {
			waves = 1
		} else {
			waves += r.Quant * (math.Ceil(waves) - waves)
		}
		if t := waves * tm * tn * (k + r.Fill) * r.edge[i]; t < best {
			best = t
		}
	}
	return 2 * best / r.perSM
}
