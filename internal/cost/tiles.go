package cost

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/hw"
)

// tiles are the output tiles a library chooses from, rows x columns; the narrow ones turn a
// product round, so that few rows fill the small side of the matrix instruction (see expertTiles).
var tiles = [...]struct{ m, n float64 }{{256, 128}, {128, 256}, {128, 128}, {64, 256}, {64, 128}, {128, 64}, {64, 64}, {32, 128}, {16, 128}, {8, 128}}

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

// perK is how long a tile takes for one element of k, seconds: its multiplications,
// or the step that its loads allow.
func (r *gemmRates) perK(i int) float64 {
	return max(2*tiles[i].m*tiles[i].n*r.edge[i]/r.perSM, float64(r.Step))
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
//	time  = waves (K + fill) max(2 tm tn edge / rate of one SM, step)
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
		count, perK := groups*math.Ceil(rows/tiles[i].m)*math.Ceil(cols/tiles[i].n), r.perK(i)
		take := func(t float64) {
			if t < seconds {
				seconds, executed = t, 2*count*tiles[i].m*tiles[i].n*k
			}
		}
		take(r.waves(count, m.sms) * perK * (k + r.Fill))
		if r.Tiling != hw.SplitK || count >= m.sms {
			continue
		}
		for _, parts := range splits {
			join := float64(r.Join) + over(parts*groups*rows*cols*partialBytes, r.joined)
			take(r.waves(count*parts, m.sms)*perK*(max(k/parts, minSplit)+r.Fill) + join)
		}
	}
	return seconds, executed
}
