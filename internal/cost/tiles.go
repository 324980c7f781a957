package cost

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/hw"
)

// tile is an output tile, rows x columns.
type tile struct{ m, n float64 }

// tiles are the output tiles a library chooses from, the largest first; the narrow ones turn a
// product round, so that few rows fill the small side of the matrix instruction (see expertTiles).
var tiles = [...]tile{{256, 128}, {128, 256}, {128, 128}, {64, 256}, {64, 128}, {128, 64}, {64, 64}, {32, 128}, {16, 128}, {8, 128}}

// splits are the parts into which SplitK divides k. A part takes the time of minSplit
// elements at least, so that none is worth being shorter, and more k never less time.
var splits = [...]float64{2, 3, 4, 6, 8, 12, 16}

const minSplit = 128

// partialBytes are written and read again for each element of a part's sums, in FP32.
const partialBytes = 8

// offers tells whether a library with this choice runs a product of so many rows in tile i.
func offers(t hw.Tiling, i int, rows float64) bool {
	if t != hw.ByRows {
		return true
	}
	tm, tn := tiles[i].m, tiles[i].n
	switch {
	case rows <= 64:
		return tm == 64 && tn <= 128
	case rows <= 128:
		return tm <= 128 && tn == 128
	}
	return tm == 128 && tn >= 128
}

// loop is the multiplications, in elements of k, for which a tile keeps one SM that goes over k:
//
//	k + loads,  loads = pipes ((k + fill) (1 + edge (1/tm + 1/tn)) - k)
//
// The constants are those of SMs whose pipes are 1. Loads take as long on slower pipes, which
// multiply that much less meanwhile.
func (r *gemmRates) loop(t *tile, k float64) float64 {
	return r.pipes*(k+r.Fill)*(1+r.Edge*(1/t.m+1/t.n)) + (1-r.pipes)*k
}

// slowed is loop over k of the largest tile with endless k, the product that perSM is the rate of.
func (r *gemmRates) slowed() float64 { return 1 + r.pipes*r.Edge*(1/tiles[0].m+1/tiles[0].n) }

// seconds is how long one SM goes over k for a tile: its multiplications and loads, or the steps
// that the latter allow.
func (r *gemmRates) seconds(t *tile, k float64) float64 {
	return max(2*t.m*t.n*r.loop(t, k)/(r.perSM*r.slowed()), float64(r.Step)*(k+r.Fill))
}

// waves is how many rounds so many tiles take: a last one that is partly filled counts in part.
func (r *gemmRates) waves(count, sms float64) float64 {
	w := count / sms
	if w < 1 {
		return 1
	}
	return w + r.Quant*(math.Ceil(w)-w)
}

// tiled is the time of the multiplications alone, seconds, with the best tile, and the
// FLOPs that its tiles execute, those on padding included:
//
//	tiles = groups ceil(M/tm) ceil(N/tn)
//	waves = (1-q) max(1, tiles/SMs) + q ceil(tiles/SMs)
//	time  = waves max(2 tm tn loop / rate of one SM, step (K + fill))
//
// Where tiles are fewer than SMs, SplitK may divide K among p of them: p times the
// tiles of K/p each, and the partial sums' way through the L2 and their joining besides.
func (m *Machine) tiled(r *gemmRates, rows, cols, k, groups float64) (seconds, executed float64) {
	if r.perSM <= 0 {
		return math.Inf(1), 0
	}
	seconds = math.Inf(1)
	for i := range tiles {
		if !offers(r.Tiling, i, rows) {
			continue
		}
		x := &tiles[i]
		count := groups * math.Ceil(rows/x.m) * math.Ceil(cols/x.n)
		take := func(t float64) {
			if t < seconds {
				seconds, executed = t, 2*count*x.m*x.n*k
			}
		}
		take(r.waves(count, m.sms) * r.seconds(x, k))
		if r.Tiling != hw.SplitK || count >= m.sms {
			continue
		}
		for _, parts := range splits {
			join := float64(r.Join) + over(parts*groups*rows*cols*partialBytes, r.joined)
			take(r.waves(count*parts, m.sms)*r.seconds(x, max(k/parts, minSplit)) + join)
		}
	}
	return seconds, executed
}
