package launch

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// TestRecipesRebuild: the plan of a recipe, written anew for DeepSeek-R1 by launch,
// means the same plan; where the model allows the layout the engine must too.
func TestRecipesRebuild(t *testing.T) {
	m, err := catalog.Model("deepseek-r1")
	if err != nil {
		t.Fatal(err)
	}
	n, refused, stated := 0, 0, 0
	for _, r := range recipes(t, argv.VLLM, argv.SGLang, argv.TRTLLM) {
		im, err := r.load()
		if err != nil || im.PlanText == "" {
			continue
		}
		p, err := plan.ParseServing(im.PlanText)
		if err != nil {
			t.Fatal(err)
		}
		s := p.Whole.Serving
		if s.Check(m, int64(s.Total())) != nil {
			continue // another model's layout
		}
		n++
		b, err := Build(ask(t, r.Engine, Slurm, "deepseek-r1", im.PlanText))
		if err != nil {
			t.Logf("%s: %s: %v", r.ID, im.PlanText, err)
			refused++
			continue
		}
		again, err := ImportFile(r.Engine, "f", []byte(b.Files[0].Content), nil)
		if err != nil {
			t.Errorf("%s: %v", r.ID, err)
			continue
		}
		want := servingPlan(s, s.Redundant)
		delete(want, "replicas") // jobs of their own
		if got := again.PlanText; got != planText(want) {
			t.Errorf("%s: %s reads back as %s", r.ID, planText(want), got)
		}
		if d, o := again.Degrees, im.Degrees; d.TP == o.TP && d.PP == o.PP && d.DP == o.DP && d.EP == o.EP && d.DPAttention == o.DPAttention {
			stated++
		} else {
			t.Logf("%s states %+v, written %+v", r.ID, o, d)
		}
	}
	t.Logf("%d recipes, %d refused, %d with the same flags", n, refused, stated)
	// Not the same flags, though the same plan: an --ep-size that the exchange
	// implied, attention DP over one rank, replicas inside one server.
	if stated*20 < n*19 {
		t.Errorf("%d of %d recipes are written with the same flags", stated, n)
	}
	if refused*20 > n {
		t.Errorf("%d of %d layouts of public recipes are refused", refused, n)
	}
}
