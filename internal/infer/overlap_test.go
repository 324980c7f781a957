package infer

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
)

func sumOf(s Step) float64 {
	sum := 0.0
	for _, p := range s.Parts {
		sum += float64(p)
	}
	return sum
}

// exchanging is a decoder with expert exchange: communication about as long as
// compute at a few hundred tokens.
func exchanging() *fake {
	f := decoder()
	f.start, f.travel = 2e-3, 60e-6
	return f
}

// Two halves are never faster than a perfect overlap of the whole, never slower
// than one after the other, and what is split stays accounted for.
func TestTwoBatchProperties(t *testing.T) {
	for _, share := range []float64{0, 20.0 / 132} {
		two := &TwoBatch{Inner: exchanging(), Layers: 61, SMShare: share, Always: true}
		for _, b := range []*Batch{batch(2, 100), batch(3, 7), batch(64, 4000), batch(1001, 5000), {Prefill: 16384, PrefillPairs: 3e7, Prompts: 1},
			{Decode: 31, DecodeContext: 12345, Draft: 2, Prefill: 1001, PrefillPairs: 12345, Prompts: 3}} {
			s := two.Step(b)
			first, second := two.Inner.Step(&two.half[0]), two.Inner.Step(&two.half[1])
			if !(s.Floor <= s.Total && s.Total <= s.Upper) || s.Total > first.Total+second.Total {
				t.Errorf("%+v: %+v, halves take %g and %g", b, s, first.Total, second.Total)
			}
			if compute := first.Total + second.Total - first.Parts[Communication] - second.Parts[Communication] - first.Parts[Overhead] - second.Parts[Overhead]; s.Total < compute {
				t.Errorf("%+v: %g s, compute alone takes %g", b, s.Total, compute)
			}
			if math.Abs(sumOf(s)/float64(s.Total)-1) > 1e-9 {
				t.Errorf("%+v: parts make %g of %g", b, sumOf(s), s.Total)
			}
			h, g := two.half[0], two.half[1]
			if h.Decode+g.Decode != b.Decode || h.DecodeContext+g.DecodeContext != b.DecodeContext || h.Prefill+g.Prefill != b.Prefill ||
				math.Abs(h.PrefillPairs+g.PrefillPairs-b.PrefillPairs) > 1e-9*b.PrefillPairs || g.Draft != b.Draft {
				t.Errorf("%+v splits into %+v and %+v", b, h, g)
			}
		}
	}
}

// A small batch is slower in two halves, a large one faster: weights are read twice,
// but tokens travel behind compute. Left to choose, the step is the faster of both.
func TestTwoBatchNeedsTokens(t *testing.T) {
	two := &TwoBatch{Inner: exchanging(), Layers: 61}
	if small, large := two.Gain(batch(8, 1000)), two.Gain(batch(512, 1000)); small >= 1 || large <= 1.1 {
		t.Errorf("gain %g at 8 sequences, %g at 512", small, large)
	}
	for n := 1; n < 2000; n *= 2 {
		one, best := two.Inner.Step(batch(n, 1000)), two.Step(batch(n, 1000))
		if best.Total > one.Total {
			t.Errorf("%d sequences: chose %g s over %g s", n, best.Total, one.Total)
		}
	}
	if g := two.Gain(batch(1, 1000)); g != 1 {
		t.Errorf("one sequence cannot be split, gain %g", g)
	}
	if n := testing.AllocsPerRun(100, func() { two.Step(&two.half[0]) }); n > 0 {
		t.Errorf("%g allocations per step", n)
	}
}

// Communication kernels that take multiprocessors slow the compute beside them, in steps
// with prompts: those of the others take none.
func TestTwoBatchSMs(t *testing.T) {
	free, taken := &TwoBatch{Inner: exchanging(), Layers: 61}, &TwoBatch{Inner: exchanging(), Layers: 61, SMShare: 20.0 / 132}
	read := &Batch{Prefill: 512, Prompts: 2}
	if a, b := free.Gain(read), taken.Gain(read); b >= a {
		t.Errorf("gain %g with 20 of 132 multiprocessors taken, %g with none", b, a)
	}
	if a, b := free.Gain(batch(512, 1000)), taken.Gain(batch(512, 1000)); b != a {
		t.Errorf("generation gains %g with 20 of 132 multiprocessors taken, %g with none", b, a)
	}
}

// Overlap hides none of the waits for the latency between nodes, whichever of the two ways is
// faster: a slower network costs a step half a round trip for every exchange, split or not,
// so the share of the time that waits never falls (modelling notes, section 4).
func TestTwoBatchWaitsForTheNetwork(t *testing.T) {
	for _, always := range []bool{false, true} {
		for _, b := range []*Batch{batch(8, 1000), batch(512, 1000), {Prefill: 16384, PrefillPairs: 3e7, Prompts: 4}} {
			at := func(rtt float64) Step {
				f := exchanging()
				f.rtt, f.exchanges = unit.Seconds(rtt), 116
				return (&TwoBatch{Inner: f, Layers: 61, SMShare: 20.0 / 132, Always: always}).Step(b)
			}
			near, before := at(7e-6), 0.0
			for _, rtt := range []float64{7e-6, 107e-6, 507e-6, 1e-3, 5e-3} {
				s := at(rtt)
				if want := 116 * (rtt - 7e-6) / 2; math.Abs(float64(s.Total-near.Total)-want) > 1e-9 {
					t.Errorf("%+v at %g s: %g s more than near, want %g", b, rtt, float64(s.Total-near.Total), want)
				}
				if share := float64(s.Wire / s.Total); share < before || s.Wire > s.Parts[Communication] || s.Floor > s.Total {
					t.Errorf("%+v at %g s: %+v, %g of it waited at less", b, rtt, s, before)
				} else {
					before = share
				}
			}
		}
	}
}
