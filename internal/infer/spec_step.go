package infer

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Speculative prices steps that draft and verify. Each sequence of a batch then
// gets Speculation.Tokens() per step instead of one.
//
//	step = target(1 + Drafts tokens per sequence) + Drafts x draft(1 token per sequence)
//
// Verified tokens of one sequence share its KV reads; they multiply the rows of
// every product and touch more experts, which is where the gain goes. Drafts run
// one after the other, each with an LM head of its own. Prompts pass the drafter
// too: its caches must know them, and first tokens come later for it.
type Speculative struct {
	Target, Draft Stepper
	Spec          *Speculation
	// Host is the engine's own time per drafting pass: launch, sampling, metadata.
	// It stands in place of the drafter's Overhead, since a drafting pass is no
	// scheduled step of its own.
	Host unit.Seconds
	// Unhidden is the scheduler's time over a step's, see Drafting.
	Unhidden float64

	verify, pass Batch // scratch: batches given to the steppers must not be allocated per step
}

// Step prices the batch with all its drafting passes. Batch.Draft is set here
// from the speculation, whatever the caller left in it.
func (s *Speculative) Step(b *Batch) Step {
	s.verify = *b
	s.verify.Draft = s.Spec.Drafts
	if b.Decode == 0 {
		s.verify.Draft = 0
	}
	step := s.Target.Step(&s.verify)
	if s.Spec.Drafts == 0 {
		return step
	}
	// The first pass also brings the drafter up to date: an MTP module needs its own
	// keys of every token that the last verification made or refused.
	s.pass = *b
	s.pass.Draft = 0
	if s.Spec.Drafter == MTP {
		s.pass.Draft = s.verify.Draft
	}
	s.add(&step, 1)
	if b.Decode > 0 && s.Spec.Drafts > 1 {
		s.pass = Batch{Decode: b.Decode, DecodeContext: b.DecodeContext}
		s.add(&step, float64(s.Spec.Drafts-1))
	}
	host := unit.Seconds(s.Unhidden) * step.Total
	step.Parts[Overhead] += host
	step.Total += host
	step.Upper += host
	return step
}

// add puts n passes of the drafter behind the step. The floor and the resources
// take the kernels only, the host's time belongs to the estimate.
func (s *Speculative) add(step *Step, n float64) {
	d := s.Draft.Step(&s.pass)
	kernels := d.Total - d.Parts[Overhead]
	step.Floor += unit.Seconds(n) * min(d.Floor, kernels)
	step.Total += unit.Seconds(n) * (kernels + s.Host)
	step.Upper += unit.Seconds(n) * (d.Upper + s.Host)
	for p := range d.Parts {
		if Part(p) != Overhead {
			step.Parts[p] += unit.Seconds(n) * d.Parts[p]
		}
	}
	step.Parts[Overhead] += unit.Seconds(n) * s.Host
	step.Wire += unit.Seconds(n) * d.Wire
	step.Compute += unit.Seconds(n) * d.Compute
	step.HBM += unit.Seconds(n) * d.HBM
	step.Pipes += unit.Seconds(n) * d.Pipes
	step.Memory += unit.Seconds(n) * d.Memory
	step.NVLink += unit.Seconds(n) * d.NVLink
	step.Network += unit.Seconds(n) * d.Network
}

// MTPModel is the model's prediction module as a model of its own: one layer with
// the shared head, for an engine that prices drafting passes. The 2h x h projection
// before the layer is left out; it has 7 % of the active weights of DeepSeek-V3's
// module and head.
func MTPModel(m *model.Model) (*model.Model, error) {
	if len(m.MTP) == 0 {
		return nil, fmt.Errorf("model %s has no MTP module to draft with: use draft:MODEL:N:ACCEPT", m.Name)
	}
	d := *m
	d.Name = m.Name + " mtp"
	d.Layers, d.MTP = m.MTP[:1], nil
	return &d, nil
}
