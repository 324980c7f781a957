package deploy

import (
	"math/rand/v2"
	"testing"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// checkFront fails where a member dominates another, or a fitting point beats all
// members by more than what counts as alike.
func checkFront(t *testing.T, points, front []*Point) {
	t.Helper()
	for i, a := range front {
		if !a.Fits {
			t.Error("a point of the front does not fit")
		}
		for j, b := range front {
			if i != j && a.PerUser() >= b.PerUser() && a.PerGPU() >= b.PerGPU() {
				t.Errorf("%g, %g dominates %g, %g", a.PerUser(), a.PerGPU(), b.PerUser(), b.PerGPU())
			}
		}
	}
	const more = (1 + alike) * (1 + alike)
	for _, p := range points {
		covered := !p.Fits
		for _, f := range front {
			covered = covered || f.PerUser()*more >= p.PerUser() && f.PerGPU()*more >= p.PerGPU()
		}
		if !covered {
			t.Errorf("nothing on the front is as good as %g, %g", p.PerUser(), p.PerGPU())
		}
	}
}

func FuzzFront(f *testing.F) {
	f.Add(uint64(1), uint8(0))
	f.Add(uint64(2), uint8(1))
	f.Add(uint64(3), uint8(200))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		var points []*Point
		for range n {
			x := plan.Serving{TP: 1 << r.IntN(4), PP: 1, DP: 1, EP: 1, DCP: 1, Replicas: 1 + r.IntN(3)}
			points = append(points, &Point{Layout: Layout{Serving: x}, TPOT: unit.Seconds(0.001 + float64(r.IntN(100))/1e3), Output: 1 + 1e4*r.Float64(), Fits: r.IntN(4) > 0})
		}
		checkFront(t, points, Front(points))
	})
}

func TestFrontOfASearch(t *testing.T) {
	q, v := ask(t, "deepseek-r1", "h200x16", "", 1024, 1024, 1, 8, 64, 512)
	front := search(t, q, v).Front
	if len(front) < 4 {
		t.Errorf("%d points", len(front))
	}
	checkFront(t, all(t, q, v), front)
}
