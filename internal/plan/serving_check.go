package plan

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/model"
)

// Check says why the layout cannot serve m on a cluster of gpus devices, as one
// line that names the mend; nil when it can.
func (s *Serving) Check(m *model.Model, gpus int64) error {
	for _, d := range []struct {
		k Key
		n int
	}{{KeyTP, s.TP}, {KeyPP, s.PP}, {KeyDP, s.DP}, {KeyEP, s.EP}, {KeyDCP, s.DCP}, {KeyReplicas, s.Replicas}} {
		if d.n < 1 || d.n > maxDegree {
			return fmt.Errorf("plan key %s=%d is out of range: give 1 to %d", d.k, d.n, maxDegree)
		}
	}
	if int64(s.Total()) > gpus {
		return fmt.Errorf("plan %s needs %d GPUs and the cluster has %d: lower a degree or take a larger cluster", s, s.Total(), gpus)
	}
	if s.PP > len(m.Layers) {
		return fmt.Errorf("plan key pp=%d exceeds the %d layers of %s: use at most %d", s.PP, len(m.Layers), m.Name, len(m.Layers))
	}
	for i := range m.Layers {
		if err := s.checkAttention(m, &m.Layers[i].Attention); err != nil {
			return err
		}
		if err := s.checkFFN(m, &m.Layers[i].FFN); err != nil {
			return err
		}
	}
	if s.Redundant != 0 && (s.Redundant < 0 || s.Redundant > maxDegree || s.EP == 1) {
		return fmt.Errorf("plan key redundant=%d needs experts on ranks of their own and at most %d copies: set ep or leave redundant out", s.Redundant, maxDegree)
	}
	if s.EP > 1 && !m.MoE() {
		return fmt.Errorf("plan key ep=%d: %s has no routed experts: leave ep out", s.EP, m.Name)
	}
	return nil
}

func (s *Serving) checkAttention(m *model.Model, a *model.Attention) error {
	tp := int64(s.TP)
	if a.Heads%tp != 0 {
		return fmt.Errorf("plan key tp=%d does not divide the %d attention heads of %s: use a divisor", s.TP, a.Heads, m.Name)
	}
	if k := keyHeads(a); !spread(k, tp) {
		return fmt.Errorf("plan key tp=%d neither divides nor is a multiple of the %d key heads of %s: use one that does", s.TP, k, m.Name)
	}
	if s.DCP == 1 || a.Kind == model.Linear {
		return nil
	}
	copies := tp // the latent is whole on every rank
	if a.Kind == model.GQA {
		copies = max(1, tp/a.KVHeads)
	}
	if copies%int64(s.DCP) != 0 {
		return fmt.Errorf("plan key dcp=%d does not divide the %d copies of the KV cache of %s under tp=%d: use a divisor", s.DCP, copies, m.Name, s.TP)
	}
	return nil
}

func (s *Serving) checkFFN(m *model.Model, f *model.FFN) error {
	tp := int64(s.TP)
	if f.Inner%tp != 0 {
		return fmt.Errorf("plan key tp=%d does not divide the ffn size %d of %s: use a divisor", s.TP, f.Inner, m.Name)
	}
	if !f.MoE() {
		return nil
	}
	switch {
	case s.Ranks()%s.EP != 0:
		return fmt.Errorf("plan key ep=%d does not divide tp x dp = %d: use a divisor", s.EP, s.Ranks())
	case s.slots(f)%int64(s.EP) != 0 && s.Redundant > 0:
		return fmt.Errorf("plan key redundant=%d: %d experts and their copies do not fill ep=%d evenly: use redundant=%d",
			s.Redundant, f.Experts, s.EP, int64(s.Redundant)+int64(s.EP)-s.slots(f)%int64(s.EP))
	case s.slots(f)%int64(s.EP) != 0:
		return fmt.Errorf("plan key ep=%d does not divide the %d experts of %s: use a divisor, or redundant=%d copies that fill it up",
			s.EP, f.Experts, m.Name, int64(s.EP)-f.Experts%int64(s.EP))
	case f.ExpertInner%int64(s.ETP()) != 0:
		return fmt.Errorf("tp x dp / ep = %d does not divide the expert ffn size %d of %s: raise ep", s.ETP(), f.ExpertInner, m.Name)
	case !s.Exchange() && f.SharedInner%tp != 0:
		return fmt.Errorf("plan key tp=%d does not divide the shared expert ffn size %d of %s: use a divisor", s.TP, f.SharedInner, m.Name)
	}
	return nil
}

// slots is the experts of a layer with their copies.
func (s *Serving) slots(f *model.FFN) int64 { return f.Experts + int64(s.Redundant) }
