package infer

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// fake prices steps by a formula that a reader can follow: weights are read once,
// experts as far as tokens touch them, every token computes, keys are read, ranks
// exchange.
type fake struct {
	weights, experts   unit.Seconds // to read the dense weights, all experts
	token, pair, keys  unit.Seconds // per token, per query-key pair, per KV token read
	start, travel, rtt unit.Seconds // of communication: per step, per token; network round trip
	exchanges          float64      // waits of half a round trip per step
	overhead           unit.Seconds
	calls              int
}

// touched is the share of 256 experts that n tokens of 8 choices touch.
func touched(n float64) float64 { return 1 - math.Pow(1-8.0/256, n) }

func (f *fake) Step(b *Batch) Step {
	f.calls++
	n := unit.Seconds(int64(b.Decode)*int64(1+b.Draft) + b.Prefill)
	if n == 0 {
		return Step{}
	}
	var s Step
	s.Wire = f.rtt / 2 * unit.Seconds(f.exchanges)
	s.Parts[Attention] = f.keys*unit.Seconds(b.DecodeContext) + f.pair*unit.Seconds(b.PrefillPairs)
	s.Parts[Dense] = max(f.weights, f.token*n)
	s.Parts[Experts] = max(f.experts*unit.Seconds(touched(float64(n))), f.token*n)
	s.Parts[Communication] = f.start + f.travel*n + s.Wire
	s.Parts[Overhead] = f.overhead
	for _, p := range s.Parts {
		s.Total += p
	}
	s.Compute, s.HBM = f.token*n, s.Parts[Attention]
	s.Network = f.travel * n
	s.Floor = max(s.Compute, s.HBM, s.Network)
	s.Upper = 2 * s.Total
	return s
}

// decoder is a step of 10 ms at one sequence, most of it reading weights.
func decoder() *fake {
	return &fake{weights: 4e-3, experts: 12e-3, token: 20e-6, pair: 1e-11, keys: 1e-9, start: 1e-3, travel: 10e-6, overhead: 1e-3}
}

// module is a drafter of a fortieth of decoder.
func module() *fake {
	return &fake{weights: 0.1e-3, experts: 0.3e-3, token: 0.5e-6, start: 25e-6, overhead: 1e-3}
}

func batch(n int, context int64) *Batch {
	return &Batch{Decode: n, DecodeContext: int64(n) * context}
}
