package deploy

import (
	"errors"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Instance is one engine with what it drafts with; it serves one goroutine.
type Instance struct {
	Engine  *infer.Engine
	Stepper infer.Stepper // Engine, or around it the drafter and the calibration
	spec    *infer.Speculation
	solved  map[load]infer.Point
	full    map[int64]infer.Capacity // by slots
	slots   int                      // the limit of sequences that limited found last
	// corrected tells that measured points stand behind Stepper.
	corrected bool
}

// setup is the engine of layout x for v.
func (q *Question) setup(v *Variant, x plan.Serving) (*infer.Setup, error) {
	profile, err := infer.ProfileOn(q.Engine, v.Cluster.Device)
	if err != nil {
		return nil, err
	}
	s := &infer.Setup{Model: q.Model, Cluster: v.Cluster, Plan: x, Weights: v.Weights, Experts: v.Experts, KV: v.KV, Profile: profile,
		RTT: v.RTT, Eager: q.Eager, Skew: v.Skew, Popularity: v.Loads, MaxBatchTokens: q.Chunk, MaxSequences: q.sequences(x), Context: q.ISL + q.OSL, Utilization: q.MemoryLimit}
	s.MTP = v.MTP()
	s.Loads, err = q.loads(v, x)
	return s, err
}

// sequences is the engine's limit of generating sequences per replica: the question's
// own limit of an instance shared over its replicas, else the default. It does not
// follow the users asked for: what an engine reserves is set before any of them come.
func (q *Question) sequences(x plan.Serving) int64 {
	dp := int64(max(x.DP, 1))
	if q.Slots > 0 {
		return (int64(q.Slots) + dp - 1) / dp
	}
	return infer.DefaultSequences
}

// slots is the question's limit of generating sequences of an instance as an engine keeps it, so
// many on each replica; 0 = the engine's own.
func (q *Question) slots(x plan.Serving) int {
	if q.Slots == 0 {
		return 0
	}
	return int(q.sequences(x)) * max(x.DP, 1)
}

// Build makes the instance of layout x. Where it does not fit the engine comes
// with a *infer.MemoryError, for its memory table; other errors are bad input.
func (q *Question) Build(v *Variant, x plan.Serving) (*Instance, error) {
	s, err := q.setup(v, x)
	if err != nil {
		return nil, err
	}
	e, err := infer.New(s)
	if err == nil {
		err = e.CheckRequest(q.ISL, q.OSL)
	}
	if err != nil {
		return &Instance{Engine: e}, err
	}
	in := &Instance{Engine: e, Stepper: e, spec: v.Speculation, solved: map[load]infer.Point{}, full: map[int64]infer.Capacity{}}
	if v.TwoBatch {
		in.Stepper = &infer.TwoBatch{Inner: e, Layers: len(q.Model.Layers), Replicas: x.DP, SMShare: exchangeShare(v.Cluster.Device)}
	}
	if !v.speculates() {
		return in, nil
	}
	drafted, err := infer.NewSpeculative(e, v.Speculation, v.Draft)
	if err != nil {
		return nil, err
	}
	drafted.Target = in.Stepper
	in.Stepper = drafted
	return in, nil
}

// exchangeSMs are the multiprocessors that the kernels of the expert exchange take
// while they run: DeepEP's normal mode, 20 (modelling notes, section 4).
const exchangeSMs = 20

// exchangeShare is their part of the device; 0 where its size is not published.
func exchangeShare(d *hw.Device) float64 {
	if d.SMs <= exchangeSMs {
		return 0
	}
	return exchangeSMs / float64(d.SMs)
}

// tooLarge tells whether err says that an instance does not fit, and how much its
// fullest GPU needs.
func tooLarge(err error, budget unit.Bytes) (need unit.Bytes, ok bool) {
	var e *infer.MemoryError
	if !errors.As(err, &e) {
		return 0, false
	}
	return budget + max(e.Need-e.Have, 0), true
}
