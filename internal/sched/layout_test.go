package sched

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// TestClosedForms compares the bubble of equal stages without communication with
// the published formulas. B is the full backward, b its input-gradient half.
func TestClosedForms(t *testing.T) {
	for _, c := range []struct {
		kind       Kind
		vpp        int
		f, b, w, o float64 // o: length of an overlapped pair, 0 = f + b + w
		bubble     func(p, f, b, w, fb float64) float64
		source     string
	}{
		{GPipe, 1, 1.1, 1.3, 0.7, 0, func(p, f, b, w, _ float64) float64 { return (p - 1) * (f + b + w) }, "arXiv:2104.04473 section 2.2.1"},
		{OneFOneB, 1, 1.1, 1.3, 0.7, 0, func(p, f, b, w, _ float64) float64 { return (p - 1) * (f + b + w) }, "arXiv:2104.04473 section 2.2.1"},
		{Interleaved, 2, 1.1, 1.3, 0.7, 0, func(p, f, b, w, _ float64) float64 { return (p - 1) * (f + b + w) / 2 }, "arXiv:2104.04473 section 2.2.2"},
		{Interleaved, 3, 1.1, 1.3, 0.7, 0, func(p, f, b, w, _ float64) float64 { return (p - 1) * (f + b + w) / 3 }, "arXiv:2104.04473 section 2.2.2"},
		{ZBH1, 1, 1.1, 1.3, 0.7, 0, func(p, f, b, w, _ float64) float64 { return (p - 1) * (f + (b + w) - 2*w) }, "arXiv:2401.10241 table 1"},
		{ZBH2, 1, 1.1, 1.3, 0.7, 0, func(p, f, b, w, _ float64) float64 { return (p - 1) * (f + b - 2*w) }, "arXiv:2401.10241 table 1"},
		{ZBH2, 1, 1, 1, 1, 0, func(_, _, _, _, _ float64) float64 { return 0 }, "arXiv:2401.10241 section 2.2: zero bubble when f = b = w"},
		{ZBV, 1, 1, 1, 1, 0, func(_, _, _, _, _ float64) float64 { return 0 }, "arXiv:2405.15362: zero bubble when f = b = w"},
		{DualPipe, 1, 1, 1, 0.5, 0, dualBubble, "arXiv:2412.19437 table 2, f = b"},
		{DualPipe, 1, 1, 1, 1, 2.5, dualBubble, "arXiv:2412.19437 table 2, f = b"},
		{DualPipeV, 1, 1, 1, 1, 2.5, func(p, f, b, w, fb float64) float64 { return dualBubble(2*p, f, b, w, fb) / 2 },
			"DualPipe repository: dualpipe of 2p half stages"},
	} {
		for _, p := range []int{2, 4, 8, 16} {
			m := 4 * p
			sec := func(x float64) unit.Seconds { return unit.Seconds(x) }
			l, err := Lay(Uniform(c.kind, p, m, c.vpp, sec(c.f), sec(c.b), sec(c.w), 0, sec(c.o)))
			if err != nil {
				t.Fatal(err)
			}
			fb := c.o
			if fb == 0 {
				fb = c.f + c.b + c.w
			}
			var got float64
			for r := range p {
				got = max(got, float64(l.Idle(r)))
			}
			if want := c.bubble(float64(p), c.f, c.b, c.w, fb); math.Abs(got-want) > 1e-9*float64(l.Step) {
				t.Errorf("%s p=%d m=%d: bubble %g, want %g (%s)", c.kind, p, m, got, want, c.source)
			}
		}
	}
}

func dualBubble(p, f, b, w, fb float64) float64 { return (p/2 - 1) * (fb + (b + w) - 3*w) }

// A pipeline without a bubble has none, to the last bit.
func TestNoBubbleIsZero(t *testing.T) {
	for _, k := range []Kind{GPipe, OneFOneB, ZBH2, ZB2P, ZBV} {
		for _, f := range []unit.Seconds{0.7e-3, 1e-3, 3e-3} {
			p := 1
			if k == ZBH2 || k == ZB2P || k == ZBV {
				p = 4
			}
			l, err := Lay(Uniform(k, p, 24, 1, f, f, f, 0, 0))
			if err != nil {
				t.Fatal(err)
			}
			if r := l.BubbleRate(); r != 0 {
				t.Errorf("%s, f %g s: bubble rate %g", k, float64(f), r)
			}
			for rank := range p {
				if idle := l.Idle(rank); idle != 0 {
					t.Errorf("%s, f %g s: rank %d is idle for %g s", k, float64(f), rank, float64(idle))
				}
			}
		}
	}
}
