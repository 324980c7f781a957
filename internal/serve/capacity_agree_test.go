package serve

import (
	"context"
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// Whatever the lengths and the engine, both views give the same answers per second within 10 %
// where prompts fill the steps: the scheduler fills them with parts of prompts, and the closed form counts
// tokens, too. Replicas of DP attention that read prompts apart generate while others read.
func TestCapacityCountsTokens(t *testing.T) {
	tp := func(n int) plan.Serving { return plan.Serving{TP: n, PP: 1, DP: 1, EP: 1, DCP: 1, Replicas: 1} }
	for _, c := range []struct {
		model, cluster string
		plan           plan.Serving
		engines        []string
	}{
		{"llama-3.1-8b", "b200x8", tp(4), []string{"vllm", "sglang", "trtllm"}},
		{"deepseek-r1", "h200x8", tp(8), []string{"vllm", "sglang", "trtllm"}},
		{"deepseek-r1", "h200x8", plan.Serving{TP: 1, PP: 1, DP: 8, EP: 8, DCP: 1, Replicas: 1}, []string{"vllm", "sglang", "trtllm"}},
	} {
		for _, engine := range c.engines {
			e := real(t, c.model, c.cluster, c.plan, engine)
			for _, l := range [][2]int{{4096, 2}, {4096, 16}, {6000, 2}, {3000, 8}, {512, 2}, {512, 16}, {1024, 64}, {9000, 64}} {
				if testing.Short() && l[1] > 8 {
					continue
				}
				want, err := infer.Saturate(e, &infer.Load{ISL: int64(l[0]), OSL: int64(l[1])})
				if err != nil {
					t.Fatal(err)
				}
				got, err := Saturate(context.Background(), service(t, e), closed(t, l[0], l[1], 1, 200), 0)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s, %s on %s, %d/%d: answers %.4g, closed form %.4g, generating %.4g, closed form %.4g", c.model, c.plan.String(), engine, l[0], l[1], got.Requests, want.Requests, got.Concurrency, want.Concurrency)
				if gap := got.Requests/want.Requests - 1; math.Abs(gap) > 0.1 {
					t.Errorf("%s, %s on %s, %d/%d: %.4g answers/s, closed form %.4g (%+.1f %%)", c.model, c.plan.String(), engine, l[0], l[1], got.Requests, want.Requests, 100*gap)
				}
			}
		}
	}
}
