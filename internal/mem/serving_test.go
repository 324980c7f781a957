package mem

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// The cache takes what the budget leaves, and is nothing where the rest is more.
func TestServingParts(t *testing.T) {
	r := ServingRank{Stored: work.Stored{Dense: 10 << 30, Experts: 20 << 30, Absorbed: 1 << 30}, Ends: 2 << 30, Draft: 3 << 30, Working: 4 << 30, Axes: 2}
	const fixed = (10+20+1+2+3+4)<<30 + GraphBytes + ContextBytes + 2*BufferBytes
	for _, budget := range []unit.Bytes{100 << 30, fixed, 30 << 30} {
		p := OfServing(&r, budget)
		if want := max(0, budget-fixed); p.Total() != max(budget, fixed) || p[Cache] != want {
			t.Errorf("budget %d: parts of %d, cache %d, want %d", budget, p.Total(), p[Cache], want)
		}
	}
	r.Eager = true
	if p := OfServing(&r, 100<<30); p[Graphs] != 0 || p[Cache] != 100<<30-fixed+GraphBytes {
		t.Errorf("eager: %+v", p)
	}
}
