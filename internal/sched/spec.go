package sched

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Spec is one pipeline to lay out.
type Spec struct {
	Kind         Kind
	Stages       int // ranks p of the pipeline
	MicroBatches int // micro-batches m per pipeline and step
	VPP          int // chunks per rank, >= 1; kinds that always have 2 take 1 or 2
	Times        Times
	// WeightShare is the share of a micro-batch's activations that stays between
	// the input gradient and the weight gradient, in (0, 1]; 0 means 1, all of it.
	// Only the limit of zb-1p and zb-2p and Layout.PeakActivations depend on it.
	WeightShare float64
}

// Times are seconds per chunk in model order: chunk 0 holds the embedding, the
// last one the head. All slices but Comm have Kind.Chunks entries.
type Times struct {
	F []unit.Seconds // forward
	B []unit.Seconds // backward, input gradient
	W []unit.Seconds // backward, weight gradient
	// Comm[i] delays what crosses between chunk i and i+1, either direction,
	// without occupying a rank. nil: no delay. A boundary inside one rank (the
	// turn of a V) crosses no link and is never delayed.
	Comm []unit.Seconds
	// Pair is the length of an overlapped forward of chunk f and full backward
	// (B and W) of chunk b, only called for DualPipe and DualPipeV; nil: F + B + W.
	Pair func(f, b int) unit.Seconds
}

// PublishedWeightShare is the share of a micro-batch that a weight gradient
// keeps alive in the runs of arXiv:2401.10241: 32 sbh of sbh (34 + 5 as/h)
// (its table 1), which is 0.37 and 0.43 for the two models with a published
// bubble rate; 0.4 stands between.
const PublishedWeightShare = 0.4

// maxSeconds bounds one time, so that sums of maxPasses of them stay finite.
const maxSeconds unit.Seconds = 1e12

// Uniform is a pipeline of equal stages: f, b, w per stage and micro-batch,
// split over the chunks of a rank, comm per boundary crossing and fb per
// overlapped pair of whole stages (0: f + b + w).
func Uniform(kind Kind, stages, microbatches, vpp int, f, b, w, comm, fb unit.Seconds) *Spec {
	s := &Spec{Kind: kind, Stages: stages, MicroBatches: microbatches, VPP: vpp, WeightShare: PublishedWeightShare}
	if s.checkSize() != nil {
		return s // Validate says why
	}
	n := kind.Chunks(stages, vpp)
	per := unit.Seconds(n / stages)
	fill := func(n int, t unit.Seconds) []unit.Seconds {
		x := make([]unit.Seconds, n)
		for i := range x {
			x[i] = t
		}
		return x
	}
	s.Times = Times{F: fill(n, f/per), B: fill(n, b/per), W: fill(n, w/per), Comm: fill(n-1, comm)}
	if fb != 0 {
		s.Times.Pair = func(int, int) unit.Seconds { return fb / per }
	}
	return s
}

// Validate gives the first thing that keeps the pipeline from being laid out.
func (s *Spec) Validate() error {
	if err := s.checkSize(); err != nil {
		return err
	}
	n := s.Kind.Chunks(s.Stages, s.VPP)
	t := &s.Times
	if err := checkTimes("forward", t.F, n); err != nil {
		return err
	}
	if err := checkTimes("input-gradient", t.B, n); err != nil {
		return err
	}
	if err := checkTimes("weight-gradient", t.W, n); err != nil {
		return err
	}
	if t.Comm != nil {
		if err := checkTimes("communication", t.Comm, n-1); err != nil {
			return err
		}
	}
	if !(s.WeightShare >= 0 && s.WeightShare <= 1) {
		return fmt.Errorf("weight share %g: give a share from 0 to 1", s.WeightShare)
	}
	return nil
}

// checkSize looks at everything but the times.
func (s *Spec) checkSize() error {
	p, m, v, k := s.Stages, s.MicroBatches, s.VPP, s.Kind
	switch {
	case k >= NumKinds:
		return fmt.Errorf("schedule %d is unknown", uint8(k))
	case p < 1:
		return partError("stages", "%d stages: a pipeline has at least 1", p)
	case m < 1:
		return partError("microbatches", "%d micro-batches: a step has at least 1", m)
	case v < 1:
		return partError("vpp", "vpp %d: a rank has at least 1 chunk", v)
	case k == Interleaved && v < 2:
		return partError("vpp", "interleaved with vpp 1: give vpp 2 or more, or schedule 1f1b")
	case k != Interleaved && v > k.LocalChunks(1):
		return partError("vpp", "%s with vpp %d: it has %d per rank; vpp is for interleaved", k, v, k.LocalChunks(1))
	case k == Interleaved && m%p != 0:
		return partError("microbatches", "interleaved with %d micro-batches on %d stages: make them a multiple of the stages", m, p)
	case k == DualPipe && p%2 != 0:
		return partError("stages", "dualpipe with %d stages: it needs an even number, or schedule dualpipe-v", p)
	case k == DualPipe && m%2 != 0:
		return partError("microbatches", "dualpipe with %d micro-batches: half enter at each end, give an even number", m)
	case (k == DualPipe || k == DualPipeV) && m < 2*p:
		return partError("microbatches", "%s with %d micro-batches on %d stages: it needs at least %d", k, m, p, 2*p)
	}
	return k.TooLarge(p, m, v)
}

func checkTimes(what string, t []unit.Seconds, n int) error {
	if len(t) != n {
		return fmt.Errorf("%d %s times: this schedule needs %d", len(t), what, n)
	}
	for i, x := range t {
		if !(x >= 0 && x <= maxSeconds) {
			return fmt.Errorf("%s time of chunk %d is %g s: give a time from 0 to %g s", what, i, float64(x), float64(maxSeconds))
		}
	}
	return nil
}

// comm is the delay of the boundary after chunk i when it lies between two ranks.
func (s *Spec) comm(i int) unit.Seconds {
	if s.Times.Comm == nil {
		return 0
	}
	a, _ := s.Kind.RankOf(i, s.Stages, s.VPP)
	b, _ := s.Kind.RankOf(i+1, s.Stages, s.VPP)
	if a == b {
		return 0
	}
	return s.Times.Comm[i]
}

// pair is the length of an overlapped pass.
func (s *Spec) pair(f, b int) unit.Seconds {
	t := &s.Times
	if t.Pair != nil {
		return t.Pair(f, b)
	}
	return t.F[f] + t.B[b] + t.W[b]
}

// share is WeightShare with its default.
func (s *Spec) share() float64 {
	if s.WeightShare == 0 {
		return 1
	}
	return s.WeightShare
}
