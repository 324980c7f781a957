package cost

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/work"
)

// experts prices one of the two grouped products of the engine's fused routed
// experts, permutation, activation and weighted sum included.
func (m *Machine) experts(op *work.Op, x *engineProduct) Price {
	rows, touched := op.Rows, op.Touched
	if rows == 0 {
		rows, touched = float64(op.M*op.Groups), float64(op.Groups)
	}
	compute := m.spread(&x.rates, rows, touched, float64(op.N), float64(op.K))
	memory := over(float64(op.Bytes), x.rates.memory)
	start := float64(x.Launch) + float64(x.Expert)*touched + x.Passes*2*rows*float64(op.N+op.K)/m.hbm
	p := m.price(float64(op.FLOPs), m.matrix[op.Format], float64(op.Bytes), compute, memory, x.Overlap, start)
	p.Start = launch // a chain of kernels (routing, sorting, products): only the first one's hides
	return p
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
		count := touched / -math.Expm1(-tiles[i].m/mean) * math.Ceil(cols/tiles[i].n)
		best = min(best, r.waves(count, m.sms)*r.perK(i)*(k+r.Fill))
	}
	return best
}
