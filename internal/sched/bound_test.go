package sched

import (
	"math/rand/v2"
	"testing"
)

// TestBoundHolds draws many small and wild pipelines; the mean ratio of bound to
// makespan is asserted too, since a loose bound prunes nothing.
func TestBoundHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var ratio, n [NumKinds]float64
	for range 20000 {
		s := randomSpec(rng)
		got, err := Makespan(s)
		if err != nil {
			t.Fatal(err)
		}
		b := LowerBound(s)
		if b > got {
			t.Fatalf("%s p=%d m=%d vpp=%d share=%g: bound %g above the makespan %g", s.Kind, s.Stages, s.MicroBatches, s.VPP, s.WeightShare, float64(b), float64(got))
		}
		ratio[s.Kind] += float64(b / got)
		n[s.Kind]++
	}
	for k := range NumKinds {
		if mean := ratio[k] / n[k]; mean < 0.9 {
			t.Errorf("%s: bound is %.3f of the makespan in the mean", k, mean)
		}
	}
}

// TestBoundMet: with equal stages the bound is the makespan of the kinds whose
// bubble is a closed form, and it proves the automatic ZB-1p optimal.
func TestBoundMet(t *testing.T) {
	for _, k := range []Kind{GPipe, OneFOneB, Interleaved, ZBH1, ZBH2, ZB1P, ZBV} {
		vpp := 1
		if k == Interleaved {
			vpp = 2
		}
		s := Uniform(k, 8, 32, vpp, 1, 1.1, 0.7, 0, 0)
		got, err := Makespan(s)
		if err != nil {
			t.Fatal(err)
		}
		if b := LowerBound(s); b > got || float64(b) < float64(got)*(1-3*roundingSlack) {
			t.Errorf("%s: bound %g, makespan %g", k, float64(b), float64(got))
		}
	}
}
