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
	Pipes   unit.Seconds // see cost.Price
	Memory  unit.Seconds
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
// instance, each with context KV tokens, at which its multiplications, those on padding
// among them, take longer than its bytes; 0 where that happens at none up to most.
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
	var pipes, memory unit.Seconds
	for _, r := range e.Explain(&Batch{Decode: int(n), DecodeContext: n * context}) {
		if r.Part == p {
			pipes += r.Pipes
			memory += r.Memory
		}
	}
	return pipes > 0 && pipes >= memory
}

// PartBound is what binds most of a part's time among rows.
func PartBound(rows []Row, p Part) (most cost.Resource) {
	var times [cost.Latency + 1]unit.Seconds
	for i := range rows {
		if r := &rows[i]; r.Part == p {
			if times[r.Bound] += r.Total; times[r.Bound] > times[most] {
				most = r.Bound
			}
		}
	}
	return most
}

// Bound names the resource that decides a step: the largest of multiplications, with
// those on padding, memory traffic and the links' bytes, or latency where waits, launches
// and the engine's own time exceed it.
func (s *Step) Bound() cost.Resource {
	best, bound := s.Pipes, cost.Compute
	for _, r := range []struct {
		t  unit.Seconds
		of cost.Resource
	}{{s.Memory, cost.HBM}, {s.NVLink, cost.ScaleUp}, {s.Network, cost.Network}} {
		if r.t > best {
			best, bound = r.t, r.of
		}
	}
	if s.Parts[Overhead]+s.Wire > best {
		return cost.Latency
	}
	return bound
}

// Padded tells that most of a step's multiplications are on rows that tiles and heads are
// filled up with.
func (s *Step) Padded() bool { return s.Pipes > 2*s.Compute }
