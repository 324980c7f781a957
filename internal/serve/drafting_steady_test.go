package serve

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Replicas of DP attention that read prompts apart are all idle while some of them read, where
// they draft: closed form and simulation agree for lengths within 20 % of the nominal ones. Equal
// requests leave their step with one another as drafts hold by chance, of which the closed form
// knows the later first token, by a third too late or too early, and not the prompts between tokens: its tokens come
// up to a sixth too fast. It says so (infer.Parted).
// Of 128 users more are on their way to the engine together than come in a step, which the simulation reads
// together: it is a quarter slower than the closed form for equal lengths.
func TestReplicasThatDraft(t *testing.T) {
	e := real(t, "deepseek-r1", "h200x8", plan.Serving{TP: 1, PP: 1, DP: 8, EP: 8, DCP: 1, Replicas: 1}, "sglang")
	spec, err := infer.ParseSpeculation("mtp:1:0.85")
	if err != nil {
		t.Fatal(err)
	}
	drafts, err := infer.NewSpeculative(e, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := service(t, e)
	s.Engine.Stepper, s.Engine.Speculation = drafts, spec
	s.Engine.MaxSeqs = min(s.Engine.MaxSeqs, s.Engine.MaxTokens/2)
	for _, n := range []int{8, 32, 128} {
		for name, x := range map[string]struct {
			load              *workload.Workload
			output, ttft, tpt float64
		}{"varied": {closed(t, 1024, 256, n, 12*n), 0.055, 0.08, 0.065}, "equal": {alike(t, s, 1024, 256, n, 12*n), 0.15, 0.35, 0.18}} {
			if n == 128 && name == "equal" {
				x.output, x.tpt = x.output+0.07, x.tpt+0.09
			}
			p, err := infer.Steady(e, &infer.Load{ISL: 1024, OSL: 256, Concurrency: int64(n), Spec: spec, Stepper: drafts, Fixed: name == "equal"})
			if err != nil {
				t.Fatal(err)
			}
			m := run(t, s, x.load, Options{}).Mean()
			for what, v := range map[string][3]float64{"tpot": {m.TPOT.Mean, float64(p.TPOT), x.tpt}, "output": {m.OutputRate, p.Output, x.output}, "ttft": {m.TTFT.Mean, float64(p.Steady), x.ttft}} {
				gap := v[0]/v[1] - 1
				t.Logf("%d users of %s lengths: %s %.4g, closed form %.4g (%+.1f %%)", n, name, what, v[0], v[1], 100*gap)
				if math.Abs(gap) > v[2] {
					t.Errorf("%d users of %s lengths: %s is off by more than %.0f %%", n, name, what, 100*v[2])
				}
			}
		}
	}
}
