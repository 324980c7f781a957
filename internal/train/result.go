package train

import (
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Bound is what the step waits for.
type Bound string

// The bounds of interfaces.md.
const (
	BoundCompute Bound = "compute"
	BoundHBM     Bound = "hbm"
	BoundNVLink  Bound = "nvlink"
	BoundNetwork Bound = "network"
	BoundBubble  Bound = "bubble"
	BoundLatency Bound = "latency"
)

// Result is the answer for one plan.
type Result struct {
	Plan       plan.Plan
	Experts    bool // the model routes to experts
	Stranger   bool // no run of this GPU stands behind its sustained share
	Fits       bool
	Memory     mem.Parts // bytes per GPU on the rank that needs most
	MemoryRank int       // its pipeline rank
	Limit      unit.Bytes

	Lower, Step, Upper unit.Seconds
	Ceilings           Ceilings // seconds per resource, each on its busiest rank
	Waits              [NumWaits]unit.Seconds
	Anatomy            Anatomy
	MicroBatches       int

	Tokens        float64 // per step, all GPUs
	FLOPsPerToken unit.FLOPs
	HardwareFLOPs unit.FLOPs // executed per step by the mean GPU
	Peak          unit.FLOPRate
	Bound         Bound
	Link          string        // the link of a communication bound, in words
	LinkKind      string        // and as the cluster names its kind
	LinkRate      unit.ByteRate // achieved, per GPU and direction
	Warnings      note.List
}

// TokensPerSecondPerGPU is the throughput.
func (r *Result) TokensPerSecondPerGPU() float64 {
	return r.Tokens / float64(r.Step) / float64(r.Plan.GPUs())
}

// MFU is model FLOPs (causal attention, no recomputation) over the 16-bit peak.
func (r *Result) MFU() float64 {
	return float64(r.FLOPsPerToken) * r.TokensPerSecondPerGPU() / float64(r.Peak)
}

// HFU is executed FLOPs of the mean rank over the same peak: recomputation and
// the scores that fused attention computes again included.
func (r *Result) HFU() float64 {
	return float64(r.HardwareFLOPs) / float64(r.Step) / float64(r.Peak)
}

// Kernels is the time the busiest rank computes: the step without its waits.
func (r *Result) Kernels() unit.Seconds {
	t := r.Step
	for _, w := range r.Waits {
		t -= w
	}
	return t
}

// LinkBound tells whether a link binds the step.
func (r *Result) LinkBound() bool { return r.Bound == BoundNVLink || r.Bound == BoundNetwork }
