package cost

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ridgeline/ridgeline/internal/hw"
)

// tileRates are rates of a made machine of 100 SMs at 1 TFLOP/s each.
func tileRates(edit func(*gemmRates)) (*Machine, *gemmRates) {
	r := &gemmRates{perSM: 1e12, memory: 2e12, pipes: 1, GEMM: hw.GEMM{Fill: 100, Quant: 0.5}}
	edit(r)
	r.joined = r.memory * r.Partial
	return &Machine{sms: 100}, r
}

func tiledSeconds(m *Machine, r *gemmRates, rows, cols, k float64) float64 {
	s, _ := m.tiled(r, rows, cols, k, 1)
	return s
}

// A tile cannot run over k faster than its loads come, however small it is.
func TestStepBoundsASmallProduct(t *testing.T) {
	m, r := tileRates(func(r *gemmRates) { r.Step = 20e-9 })
	if got, want := tiledSeconds(m, r, 1, 64, 4096), 20e-9*(4096+r.Fill); got != want {
		t.Errorf("%g s, want %g", got, want)
	}
}

// Dividing k pays where SMs idle, never costs, and needs k to be long; a rows-only
// dispatch never beats the best tile.
func TestTilings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	of := func(x hw.Tiling) (*Machine, *gemmRates) {
		return tileRates(func(r *gemmRates) { r.Step, r.Tiling, r.Join, r.Partial = 0.5e-9, x, 1e-6, 1 })
	}
	m, whole := of(hw.WholeK)
	_, split := of(hw.SplitK)
	_, rows := of(hw.ByRows)
	if a, b := tiledSeconds(m, split, 128, 128, 65536), tiledSeconds(m, whole, 128, 128, 65536); a > b/4 {
		t.Errorf("one tile of 65,536 k: %g s divided, %g s whole", a, b)
	}
	for range 2000 {
		a, b, k := float64(1+rng.IntN(5000)), float64(1+rng.IntN(5000)), float64(1+rng.IntN(20000))
		w, s, d := tiledSeconds(m, whole, a, b, k), tiledSeconds(m, split, a, b, k), tiledSeconds(m, rows, a, b, k)
		if s > w || d < w {
			t.Fatalf("%g x %g x %g: split %g, whole %g, by rows %g", a, b, k, s, w, d)
		}
		if k < minSplit && s != w {
			t.Fatalf("k = %g divided", k)
		}
		if more := tiledSeconds(m, split, a, b, k+64); more < s*(1-1e-12) {
			t.Fatalf("%g x %g: k %g takes %g, 64 more %g", a, b, k, s, more)
		}
	}
}

// A tile's loads take as long beside a quarter of the matrix pipes as beside all of them, dense or
// for experts: what the tile takes beyond its own multiplications does not change.
func TestLoadsTakeAsLongOnSlowerPipes(t *testing.T) {
	loads := func(pipes float64, x *tile, k float64) float64 {
		r := &gemmRates{pipes: pipes, GEMM: hw.GEMM{Fill: 700, Edge: 60}}
		r.perSM = 4e12 * pipes / r.slowed() // an endless product without loads: 4 TFLOP/s a whole SM
		return r.seconds(x, k) - 2*x.m*x.n*k/(r.perSM*r.slowed())
	}
	for _, list := range [][]tile{tiles[:], expertTiles[:]} {
		for i := range list {
			for _, k := range []float64{128, 4096} {
				whole, quarter := loads(1, &list[i], k), loads(0.25, &list[i], k)
				if math.Abs(quarter/whole-1) > 1e-9 {
					t.Errorf("tile %v over %g of k: loads of %g s, beside a quarter of the pipes %g", list[i], k, whole, quarter)
				}
			}
		}
	}
}
