package cost

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/work"
)

// expertTiles are the tiles of fused routed experts, rows x columns. With few rows
// per expert a kernel takes narrow ones: the weights then fill the large side of the
// matrix instruction and the rows its small side, which goes down to 8 (mma and wgmma
// shapes, PTX ISA 8.5 section 9.7; "swap A and B" in the engines' kernels).
var expertTiles = [...]tile{{8, 128}, {16, 128}, {32, 128}, {64, 128}, {64, 256}, {128, 128}, {128, 256}, {256, 128}}

// experts prices one of the two grouped products of the engine's fused routed
// experts, permutation, activation and weighted sum included.
//
//	passes = over activations and results of the rank's own rows, and over
//	         those of tokens whose experts lie elsewhere: engines without an exchange
//	         sort, mask and sum every token's choices on every rank
func (m *Machine) experts(op *work.Op, x *engineProduct) Price {
	rows, touched := op.Rows, op.Touched
	if rows == 0 {
		rows, touched = float64(op.M*op.Groups), float64(op.Groups)
	}
	k := m.kernel(op, &x.rates)
	k.compute, k.executed = m.spread(&x.rates, rows, touched, float64(op.N), float64(op.K))
	k.passes = (x.Passes*rows + x.Others*max(op.Choices-rows, 0)) * 2 * float64(op.N+op.K) / m.hbm
	k.start = float64(x.Launch) + float64(x.Expert)*float64(max(op.Held, op.Groups))
	p := m.price(k)
	p.Start = launch // a chain of kernels (routing, sorting, products): only the first one's hides
	return p
}

// spread is tiled for groups of unequal loads: rows in all on touched groups. A
// group's rows are taken as exponentially spread around their mean, of which
// ceil(rows/tm) has the mean 1/(1 - exp(-tm/mean)).
func (m *Machine) spread(r *gemmRates, rows, touched, cols, k float64) (seconds, executed float64) {
	if r.perSM <= 0 {
		return math.Inf(1), 0
	}
	if touched <= 0 {
		return 0, 0
	}
	seconds = math.Inf(1)
	mean := rows / touched
	for i := range expertTiles {
		x := &expertTiles[i]
		count := touched / -math.Expm1(-x.m/mean) * math.Ceil(cols/x.n)
		if t := r.waves(count, m.sms) * r.seconds(x, k); t < seconds {
			seconds, executed = t, 2*count*x.m*x.n*k
		}
	}
	return seconds, executed
}
