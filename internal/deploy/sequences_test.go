package deploy

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// The engine's memory follows its own limits, not the users asked for.
func TestSequencesAreTheEngines(t *testing.T) {
	for _, c := range []struct {
		users []int
		slots int
		dp    int
		want  int64
	}{
		{[]int{1}, 0, 1, infer.DefaultSequences},
		{[]int{8, 100000}, 0, 8, infer.DefaultSequences},
		{[]int{8, 100000}, 256, 1, 256},
		{[]int{8}, 4096, 1, 4096},
		{[]int{8}, 100, 8, 13},
	} {
		q := &Question{Concurrency: c.users, Slots: c.slots}
		if got := q.sequences(plan.Serving{DP: c.dp}); got != c.want {
			t.Errorf("%+v: %d sequences per replica", c, got)
		}
	}
}
