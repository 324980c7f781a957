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
	checkFront(t, served(all(t, q, v)), front)
}

// Beyond saturation two roles wait in a queue, whatever fills them, and a front holds no
// point that only waits longer than another of its deployment.
func TestFrontWithoutLongQueues(t *testing.T) {
	q, v := ask(t, "deepseek-r1", "h200x64", "prefill:tp=1,dp=8,ep=8,workers=1;decode:tp=1,dp=32,ep=32,workers=1", 1024, 1024, 256, 8192, 16384, 32768)
	o := search(t, q, v)
	queued := 0
	for _, p := range o.Points {
		if p.Queued != (p.Bound == BoundQueue) || p.Queued != (p.Concurrency > 256) {
			t.Errorf("%d in flight: queued %t, bound by %s", p.Concurrency, p.Queued, p.Bound)
		}
	}
	for _, p := range o.Front {
		if p.Queued {
			queued++
			if p.Concurrency != 8192 {
				t.Errorf("%d in flight on the front, TTFT %v", p.Concurrency, p.TTFT)
			}
		}
	}
	if queued != 1 {
		t.Errorf("%d points of the front wait in a queue, want 1", queued)
	}
}
