package plan

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/sched"
)

// Moot is the error about the first given key that cannot have an effect on
// training m, with the mend; nil where all can. A plan that says more than it
// does is a misunderstanding, so whoever reads a user's text asks.
func (f *Fixed) Moot(m *model.Model) error {
	p := &f.Plan
	if f.Has(KeyRecompute) && p.Recompute&ReFull == 0 {
		if p.Recompute&ReMoE != 0 && !m.MoE() {
			return fmt.Errorf("recompute=%s: %s has no experts: leave moe out", p.Recompute, m.Name)
		}
		// selective names mla-up for the models that have it
		if p.Recompute&ReMLAUp != 0 && p.Recompute&ReSelective != ReSelective && !latent(m) {
			return fmt.Errorf("recompute=%s: %s has no latent attention: leave mla-up out", p.Recompute, m.Name)
		}
	}
	switch {
	case p.Overlap.EP && !m.MoE():
		return fmt.Errorf("overlap=%s: %s has no experts: leave ep out", p.Overlap, m.Name)
	case p.Overlap.EP && f.Has(KeyPP) && p.PP > 1 && f.Has(KeySchedule) && p.Schedule != sched.Interleaved:
		return fmt.Errorf("overlap=%s has no effect with schedule=%s: ep needs schedule=interleaved, or pp=1", p.Overlap, p.Schedule)
	case p.CPAllToAll && f.Has(KeyCP) && p.CP == 1:
		return fmt.Errorf("cpcomm=a2a has no effect with cp=1: leave it out, or give cp of 2 or more")
	case p.ShardGroup > 0 && f.Has(KeyZeRO) && p.ZeRO == 0:
		return fmt.Errorf("shard=%d has no effect with zero=0: leave it out, or give zero=1 to 3", p.ShardGroup)
	}
	return nil
}

// latent tells whether any layer has latent attention.
func latent(m *model.Model) bool {
	for i := range m.Layers {
		if m.Layers[i].Attention.Kind == model.MLA {
			return true
		}
	}
	return false
}
