package sched

import "fmt"

// PartError is an error of a pipeline's size.
type PartError struct {
	Part string // of the Spec, to be changed: stages, microbatches or vpp
	text string
}

func (e *PartError) Error() string { return e.text }

func partError(part, format string, args ...any) error {
	return &PartError{part, fmt.Sprintf(format, args...)}
}

// Limits of a pipeline, so that an absurd size is an error of one line instead of
// minutes or gigabytes.
const (
	// MaxVPP is the most chunks of a rank.
	MaxVPP = 255
	// maxPasses bounds what is laid out: six passes and sends per chunk and
	// micro-batch, which no kind exceeds.
	maxPasses = 1 << 23
	// maxAutoPasses bounds zb-1p and zb-2p, whose scheduler runs many times over.
	maxAutoPasses = 1 << 21
	// maxAutoStages bounds their proof of optimality, which takes stages squared;
	// no model has more layers.
	maxAutoStages = 1 << 13
	// maxDrawn bounds a layout that is written pass by pass: a pass with its waits is
	// about 250 bytes of JSON and a send 200, so that the worst kind stays below 16 MB.
	maxDrawn = 1 << 16
)

// passes is what maxPasses and its like bound; a float, since the product of
// three wild integers may overflow.
func passes(stages, microbatches, vpp int) float64 {
	return float64(stages) * float64(vpp) * float64(microbatches) * 6
}

// Fits tells whether a pipeline is small enough for Lay, Makespan and LowerBound.
// It is cheap enough for every candidate of a search; TooLarge words a false one.
func (k Kind) Fits(stages, microbatches, vpp int) bool {
	n := passes(stages, microbatches, vpp)
	if k.auto() && (n > maxAutoPasses || stages > maxAutoStages) {
		return false
	}
	return n <= maxPasses && vpp <= MaxVPP
}

// TooLarge is the error of a pipeline that Fits refuses, nil for one that it
// takes: one line with the size, the limit and the mend.
func (k Kind) TooLarge(stages, microbatches, vpp int) error {
	n, most := passes(stages, microbatches, vpp), float64(maxPasses)
	if k.auto() {
		most = maxAutoPasses
	}
	switch {
	case k.Fits(stages, microbatches, vpp):
		return nil
	case vpp > MaxVPP:
		return partError("vpp", "vpp %d: at most %d chunks per rank", vpp, MaxVPP)
	case n <= most:
		return partError("stages", "%s with %d stages: its scheduler takes at most %d, use zb-h1 or zb-h2", k, stages, maxAutoStages)
	}
	return partError("microbatches", "%d stages x %d micro-batches x vpp %d: too many passes to lay out (%.3g, at most %.0f for %s): give fewer micro-batches",
		stages, microbatches, vpp, n, most, k)
}

// Drawable says, in one line, why a pipeline is too large to be written pass by
// pass; nil where it is not.
func (s *Spec) Drawable() error {
	if n := passes(s.Stages, s.MicroBatches, s.VPP); n > maxDrawn {
		return partError("microbatches", "%d stages x %d micro-batches x vpp %d: too many passes to draw (up to %.0f with their sends, at most %d): give fewer micro-batches, the pattern repeats",
			s.Stages, s.MicroBatches, s.VPP, n, maxDrawn)
	}
	return nil
}
