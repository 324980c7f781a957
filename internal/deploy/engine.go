package deploy

import (
	"errors"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Instance is one engine with what it drafts with; it serves one goroutine.
type Instance struct {
	Engine  *infer.Engine
	Stepper infer.Stepper // Engine, or around it the drafter and the calibration
	spec    *infer.Speculation
	solved  map[load]infer.Point
}

// setup is the engine of layout x for v.
func (q *Question) setup(v *Variant, x plan.Serving) (*infer.Setup, error) {
	profile := infer.DefaultProfile(v.Cluster.Device.Arch)
	if q.Engine != "" {
		var err error
		if profile, err = infer.FindProfile(q.Engine, v.Cluster.Device.Arch); err != nil {
			return nil, err
		}
	}
	s := &infer.Setup{Model: q.Model, Cluster: v.Cluster, Plan: x, Weights: v.Weights, Experts: v.Experts, KV: v.KV, Profile: profile,
		RTT: v.RTT, MaxBatchTokens: q.Chunk, MaxSequences: q.sequences(x), Context: q.ISL + q.OSL, Utilization: q.MemoryLimit}
	if v.speculates() && v.Speculation.Drafter == infer.MTP {
		s.MTP = 1
	}
	return s, nil
}

// sequences is the engine's limit of generating sequences per replica: its
// default, raised where the question puts more requests in flight, as an operator
// would.
func (q *Question) sequences(x plan.Serving) int64 {
	most := int64(q.Concurrency[len(q.Concurrency)-1])
	return max(infer.DefaultSequences, (most+int64(x.DP)-1)/int64(x.DP))
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
	in := &Instance{Engine: e, Stepper: e, spec: v.Speculation, solved: map[load]infer.Point{}}
	if !v.speculates() {
		return in, nil
	}
	draft, err := q.drafter(v, s)
	if err != nil {
		return nil, err
	}
	in.Stepper = &infer.Speculative{Target: e, Draft: draft, Spec: v.Speculation}
	return in, nil
}

// drafter is the engine that prices drafting passes: the model's own module or
// the draft model, on the ranks of one pipeline stage.
func (q *Question) drafter(v *Variant, target *infer.Setup) (*infer.Engine, error) {
	s := *target
	s.Plan.PP, s.MTP, s.Machine = 1, 0, nil
	switch v.Speculation.Drafter {
	case infer.MTP:
		m, err := infer.MTPModel(q.Model)
		if err != nil {
			return nil, err
		}
		s.Model = m
	default:
		s.Model = v.Draft
		s.Weights, s.Experts, _ = infer.CheckpointFormats(v.Draft)
		s.Plan = draftPlan(v.Draft, s.Plan, v.Cluster.GPUs)
	}
	e, err := infer.New(&s)
	if err != nil {
		return nil, fmt.Errorf("speculation %s: %w", v.Speculation, err)
	}
	return e, nil
}

// draftPlan is the target's layout as far as the draft model can be cut: whole
// replicas of it where it cannot.
func draftPlan(m *model.Model, x plan.Serving, gpus int64) plan.Serving {
	if !m.MoE() {
		x.EP = 1
	}
	x.DCP = 1
	for x.TP > 1 && x.Check(m, gpus) != nil {
		x.TP /= 2
	}
	return x
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

// corrected is a stepper whose times are calibrated: see infer.Calibration.
type corrected struct {
	inner  infer.Stepper
	by     *infer.Calibration
	tokens float64 // per sequence and step
}

// Step adds what the calibration found missing per generated token, and takes
// each wait between nodes as it was measured.
func (c *corrected) Step(b *infer.Batch) infer.Step {
	s := c.inner.Step(b)
	wire := unit.Seconds(c.by.Slope) * s.Wire
	extra := wire - s.Wire
	s.Parts[infer.Communication] += extra
	if b.Decode > 0 {
		own := c.by.Extra * unit.Seconds(c.tokens)
		s.Parts[infer.Overhead] += own
		extra += own
	}
	s.Wire = wire
	s.Total += extra
	s.Floor, s.Upper = min(s.Floor, s.Total), max(s.Upper+extra, s.Total)
	return s
}
