package infer_test

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// A longer prompt waits no less for its first token, whatever the engine and whether its users are
// alike: not where the prompts of all users begin to need a step more than one (users x prompt passes the
// tokens of a step), nor where one prompt does. Between whole steps times fall by less than a hundredth.
func TestALongerPromptWaitsNoLess(t *testing.T) {
	const step, osl, slack = 8192, 256, 0.01
	for _, c := range []struct {
		model, cluster string
		plan           plan.Serving
		users          []int64
	}{
		{"llama-3.1-70b", "h100x4", plan.Serving{TP: 4}, []int64{1, 4, 16}},
		{"deepseek-r1", "h200x8", plan.Serving{TP: 8}, []int64{1, 8}},
		{"deepseek-r1", "h200x8", plan.Serving{DP: 8, EP: 8}, []int64{8, 64}},
	} {
		for _, engine := range []string{"vllm", "sglang", "trtllm"} {
			e := mustEngine(t, c.model, c.cluster, c.plan, func(s *infer.Setup) {
				var err error
				if s.Profile, err = infer.FindProfile(engine, s.Cluster.Device.Arch); err != nil {
					t.Fatal(err)
				}
			})
			for _, users := range c.users {
				for _, fixed := range []bool{true, false} {
					for _, middle := range []int64{step / users, step} {
						var before infer.Point
						for isl := middle * 15 / 16; isl <= middle*17/16; isl += max(middle/64, 1) {
							l := &infer.Load{ISL: isl, OSL: osl, Concurrency: users, Fixed: fixed}
							if !fixed {
								l.Spread = 0.2 / 1.732
							}
							p, err := infer.Steady(e, l)
							if err != nil {
								t.Fatal(err)
							}
							for name, x := range map[string][2]unit.Seconds{"ttft": {before.TTFT, p.TTFT}, "steady": {before.Steady, p.Steady}, "burst": {before.Burst, p.Burst}} {
								if x[1] < x[0]*(1-slack) {
									t.Errorf("%s on %s, %s, %d users, alike %v: prompts of %d tokens %s %.4g s after %.4g s of shorter ones", c.model, engine, c.plan.String(), users, fixed, isl, name, x[1], x[0])
								}
							}
							before = p
						}
					}
				}
			}
		}
	}
}
