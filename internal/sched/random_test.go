package sched

import (
	"math/rand/v2"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// randomSpec draws a legal pipeline of any kind: equal, uneven or wild stage
// times, with or without communication, overlap and a weight share.
func randomSpec(rng *rand.Rand) *Spec {
	s := &Spec{Kind: Kind(rng.IntN(int(NumKinds))), Stages: 1 + rng.IntN(8), VPP: 1, MicroBatches: 1 + rng.IntN(24)}
	switch s.Kind {
	case Interleaved:
		s.VPP = 2 + rng.IntN(3)
		s.MicroBatches = s.Stages * (1 + rng.IntN(4))
	case DualPipe:
		s.Stages = 2 * (1 + rng.IntN(4))
		s.MicroBatches = 2*s.Stages + 2*rng.IntN(10)
	case DualPipeV:
		s.MicroBatches += 2 * s.Stages
	}
	n := s.Kind.Chunks(s.Stages, s.VPP)
	spread := [...]float64{0, 0.2, 1}[rng.IntN(3)]
	draw := func(n int, mean float64) []unit.Seconds {
		x := make([]unit.Seconds, n)
		for i := range x {
			x[i] = unit.Seconds(mean * (1 - spread + 2*spread*rng.Float64()))
		}
		return x
	}
	s.Times = Times{F: draw(n, 1), B: draw(n, 0.5+rng.Float64()), W: draw(n, 0.3+rng.Float64())}
	if rng.IntN(2) == 0 {
		s.Times.Comm = draw(n-1, rng.Float64())
	}
	if rng.IntN(2) == 0 {
		a := unit.Seconds(0.5 + 0.5*rng.Float64())
		t := s.Times
		s.Times.Pair = func(f, b int) unit.Seconds { return a * (t.F[f] + t.B[b] + t.W[b]) }
	}
	if rng.IntN(2) == 0 {
		s.WeightShare = 0.2 + 0.8*rng.Float64()
	}
	return s
}
