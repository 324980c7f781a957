package infer

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/model"
)

// NewSpeculative is the engine with a drafter on the same ranks: the model's own MTP
// module, or draft for a draft model (nil otherwise). A draft model keeps TP and DP
// of the target and its experts are split over TP. It errs where the model has no
// module or the draft model does not lie on the plan's ranks.
func NewSpeculative(e *Engine, spec *Speculation, draft *model.Model) (*Speculative, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	s := &Speculative{Target: e, Spec: spec}
	if d := e.profile.Drafting; d != nil {
		s.Unhidden = d.Unhidden
	}
	setup := e.setup
	setup.Machine, setup.MTP, setup.Plan.PP = e.machine, 0, 1
	switch spec.Drafter {
	case NoDrafter:
		return s, nil
	case MTP:
		module, err := MTPModel(setup.Model)
		if err != nil {
			return nil, err
		}
		setup.Model = module
	case DraftModel:
		if draft == nil {
			return nil, fmt.Errorf("speculation %s: the draft model was not found: name one of `ridgeline models`", spec)
		}
		setup.Model, setup.Loads = draft, nil
		setup.Weights, setup.Experts, _ = CheckpointFormats(draft)
		setup.Plan.EP, setup.Plan.DCP, setup.Plan.Redundant = 1, 1, 0
	}
	d, err := New(&setup)
	if err != nil {
		return nil, fmt.Errorf("drafter: %w", err)
	}
	s.Draft = d
	return s, nil
}
