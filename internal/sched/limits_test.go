package sched

import (
	"strings"
	"testing"
)

// TestLimits: at a limit a pipeline is laid out, beyond it the error names the
// mend, and Fits agrees with both.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		kind      Kind
		p, m, vpp int
		want      string // of the error; empty: it fits
	}{
		{OneFOneB, 1, maxPasses / 6, 1, ""},
		{OneFOneB, 1, maxPasses/6 + 1, 1, "give fewer micro-batches"},
		{ZB1P, maxAutoStages, 1, 1, ""},
		{ZB2P, 2000, maxAutoPasses / 6 / 2000, 1, ""},
		{ZB1P, maxAutoStages + 1, 1, 1, "use zb-h1 or zb-h2"},
		{ZB1P, 1_000_000, 1, 1, "too many passes"},
		{ZB2P, 2000, 600, 1, "at most 2097152 for zb-2p"},
		{Interleaved, 2, 2, MaxVPP, ""},
		{Interleaved, 2, 2, MaxVPP + 1, "vpp 256: at most 255"},
		{OneFOneB, 1 << 40, 1 << 40, 1, "too many passes"},
	} {
		_, err := Makespan(Uniform(c.kind, c.p, c.m, c.vpp, 1, 1.5, 0.7, 0.1, 0))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %d x %d x %d: %v, want %q", c.kind, c.p, c.m, c.vpp, err, c.want)
		}
		if fits := c.kind.Fits(c.p, c.m, c.vpp); fits != (c.want == "") {
			t.Errorf("%s %d x %d x %d: Fits says %t", c.kind, c.p, c.m, c.vpp, fits)
		}
	}
}

// TestDrawable: drawings have a limit of their own, below that of a search.
func TestDrawable(t *testing.T) {
	for m, want := range map[int]bool{maxDrawn / 6: true, maxDrawn/6 + 1: false, maxPasses / 6: false} {
		if err := Uniform(OneFOneB, 1, m, 1, 1, 1, 1, 0, 0).Drawable(); (err == nil) != want {
			t.Errorf("%d micro-batches: %v", m, err)
		}
	}
}
