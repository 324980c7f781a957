package infer_test

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// Below saturation a user more lowers the answers per second by no more than 8 %, and equal ones of
// answers of two tokens, which are prompts alone and the hardest, by no more than 13 %, whatever the lengths. Steps of equal
// requests then lose groups as users are added one by one, which the mean of groups smooths.
func TestAUserMoreHardlyLowersTheRate(t *testing.T) {
	for _, row := range []struct {
		model, cluster string
		plan           plan.Serving
	}{
		{"qwen3-30b-a3b", "h100x1", plan.Serving{TP: 1}},
		{"llama-3.1-70b", "h100x4", plan.Serving{TP: 4}},
		{"deepseek-r1", "h200x8", plan.Serving{DP: 8, EP: 8}},
	} {
		for _, name := range []string{"vllm", "sglang", "trtllm"} {
			e := mustEngine(t, row.model, row.cluster, row.plan, func(s *infer.Setup) { s.Profile, _ = infer.FindProfile(name, "hopper") })
			for _, l := range [][2]int64{{128, 2}, {128, 8}, {1024, 2}, {1024, 16}, {4096, 64}, {1024, 256}} {
				for _, fixed := range []bool{false, true} {
					if fixed && name == "sglang" {
						continue // users march in step, see TestPromptsBeyondAStepInStep
					}
					least := 0.92
					if fixed && l[1] == 2 {
						least = 0.87
					}
					last := infer.Point{}
					for c := int64(1); c <= 24; c++ {
						p := mustSteady(t, e, infer.Load{ISL: l[0], OSL: l[1], Concurrency: c, Fixed: fixed})
						if p.Limit == infer.NoLimit && p.Requests < least*last.Requests {
							t.Errorf("%s on %s, %d/%d (alike: %v): %d users have %.4g answers/s, one less %.4g", row.model, name, l[0], l[1], fixed, c, p.Requests, last.Requests)
						}
						last = p
					}
				}
			}
		}
	}
}
