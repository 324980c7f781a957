package infer

import (
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Row is one operation of a step on one GPU, all Times it runs in the step, or what
// a step takes beside its operations: see Explain.
type Row struct {
	Op      work.Op // of one run
	Times   float64
	Part    Part
	FLOPs   unit.FLOPs
	Bytes   unit.Bytes // HBM traffic; of a collective, what it sends over all links
	Compute unit.Seconds
	HBM     unit.Seconds
	Floor   unit.Seconds
	Total   unit.Seconds
	Upper   unit.Seconds
	Bound   cost.Resource
	Padded  bool // see cost.Price
}

// Intensity is FLOPs per byte of HBM traffic; 0 without traffic.
func (r *Row) Intensity() float64 {
	if r.Bytes == 0 {
		return 0
	}
	return float64(r.FLOPs) / float64(r.Bytes)
}

// Flips is, for each part, the smallest number of generating sequences of the
// instance, each with context KV tokens, at which its work takes longer than its
// bytes at the achieved rates; 0 where that happens at none up to most.
func (e *Engine) Flips(context, most int64) [NumParts]int64 {
	var flips [NumParts]int64
	for p := range NumParts {
		if p == Communication || p == Overhead || !e.computes(p, most, context) {
			continue
		}
		low, high := int64(0), most
		for high-low > 1 {
			if mid := (low + high) / 2; e.computes(p, mid, context) {
				high = mid
			} else {
				low = mid
			}
		}
		flips[p] = high
	}
	return flips
}

// computes tells whether part p of a decode step of n sequences is bound by its work.
func (e *Engine) computes(p Part, n, context int64) bool {
	var compute, hbm unit.Seconds
	for _, r := range e.Explain(&Batch{Decode: int(n), DecodeContext: n * context}) {
		if r.Part == p {
			compute += r.Compute
			hbm += r.HBM
		}
	}
	return compute > 0 && compute >= hbm
}

// Bound names the resource that decides a step: the largest of the ceilings, or
// latency where waits, launches and the engine's own time exceed it.
func (s *Step) Bound() cost.Resource {
	best, bound := s.Compute, cost.Compute
	for _, r := range []struct {
		t  unit.Seconds
		of cost.Resource
	}{{s.HBM, cost.HBM}, {s.NVLink, cost.ScaleUp}, {s.Network, cost.Network}} {
		if r.t > best {
			best, bound = r.t, r.of
		}
	}
	if s.Parts[Overhead]+s.Wire > best {
		return cost.Latency
	}
	return bound
}
