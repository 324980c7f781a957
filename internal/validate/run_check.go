package validate

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/model"
)

// check refuses what no plan of the run's model and GPUs can have, before it is
// multiplied or left out.
func (r *Run) check(m *model.Model) error {
	for _, d := range []struct {
		name string
		n    int
	}{{"tp", r.TP}, {"pp", r.PP}, {"cp", r.CP}, {"ep", r.EP}, {"dp", r.DP}, {"shard_group", r.ShardGroup}} {
		if d.n > r.GPUs {
			return wrong(fmt.Errorf("%d on %d GPUs: give at most as many", d.n, r.GPUs), d.name, "gpus")
		}
	}
	switch {
	case r.ZeRO > 3:
		return wrong(fmt.Errorf("%d: give 0, 1, 2 or 3", r.ZeRO), "zero")
	case r.MTP > len(m.MTP):
		return wrong(fmt.Errorf("%d, and %s has %d MTP modules: give at most as many", r.MTP, m.Name, len(m.MTP)), "mtp")
	case float64(r.TP)*float64(r.PP)*float64(r.CP) > float64(r.GPUs):
		return wrong(fmt.Errorf("%d x %d x %d are more than %d: correct one of them", r.TP, r.PP, r.CP, r.GPUs), "tp", "pp", "cp", "gpus")
	case r.DP > 0 && r.TP*r.PP*r.CP*r.DP != r.GPUs: // each is at most gpus, and tp x pp x cp too
		return wrong(fmt.Errorf("%d x %d x %d x %d = %d do not make %d: correct one of them", r.TP, r.PP, r.CP, r.DP, r.TP*r.PP*r.CP*r.DP, r.GPUs), "tp", "pp", "cp", "dp", "gpus")
	}
	switch ranks := r.GPUs / (r.TP * r.PP); {
	case r.ShardGroup > 0 && ranks%r.ShardGroup != 0:
		return wrong(fmt.Errorf("%d does not divide the %d ranks that hold the same layers: correct one of them", r.ShardGroup, ranks), "shard_group", "gpus", "tp", "pp")
	case m.MaxContext > 0 && int64(r.Seq) > m.MaxContext:
		return wrong(fmt.Errorf("%d tokens exceed the context of %s, %d: correct it", r.Seq, m.Name, m.MaxContext), "seq_len")
	}
	return nil
}
