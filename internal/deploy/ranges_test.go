package deploy

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// Ranges hold the prediction, never pass the floor, are wider where little was
// measured, and fall silent near saturation and where measured points corrected it.
func TestRangesOfPoints(t *testing.T) {
	known := bestOf(t, "llama-3.1-8b", "h100x1", 8)
	other := bestOf(t, "llama-3.1-8b", "l40sx1", 8)
	for _, p := range []*Point{known, other} {
		r, ok := p.TPOTRange()
		first, also := p.TTFTRange()
		if !ok || !also || !(p.Decode.Floor <= r[0] && r[0] <= p.TPOT && p.TPOT <= r[1]) || !(first[0] <= p.TTFT && p.TTFT <= first[1]) {
			t.Errorf("tpot %v in %v, ttft %v in %v", p.TPOT, r, p.TTFT, first)
		}
	}
	a, b := known.Ranges, other.Ranges
	if !a.Measured || b.Measured || a.TPOT.High/a.TPOT.Low > b.TPOT.High/b.TPOT.Low {
		t.Errorf("%+v of measured kernels, %+v of others", a, b)
	}
	full := bestOf(t, "llama-3.1-8b", "h100x1", 4096)
	if _, ok := full.TTFTRange(); ok || full.Tails() {
		t.Errorf("%+v: a range of the first token at %.0f %% of the room", full, 100*full.Steady.Room)
	}
	q, v := ask(t, "deepseek-r1", "h800x16", "tp=16", 1024, 256, 8)
	two := search(t, q, v).Best
	if _, ok := two.TPOTRange(); ok || !two.Between() || two.Ranges == nil || two.Ranges.Measured {
		t.Errorf("two nodes of a GPU without runs: between %t, range stated %t, %+v", two.Between(), ok, two.Ranges)
	}
	q, v = ask(t, "llama-3.1-8b", "h100x1", "tp=1", 1024, 256, 8)
	q.Measured = []infer.Measured{{TPOT: 10e-3, RTT: 0}}
	if p := search(t, q, v).Best; p.Ranges != nil {
		t.Errorf("corrected by a measured point, and still %+v", p.Ranges)
	}
}

func bestOf(t *testing.T, model, cluster string, n int) *Point {
	t.Helper()
	q, v := ask(t, model, cluster, "tp=1", 1024, 256, n)
	return search(t, q, v).Best
}
