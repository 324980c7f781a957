package infer_test

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// A loop of long prompts with short answers is bound by reading: it never answers more than
// the capacity that is stated for the same requests, hardly less with more users (replicas
// of DP attention hold whole sequences: a fourth user costs up to 3 %), and where it queues means do not speak for single requests. Replicas of DP attention whose
// prompts take longer than all answers have numbers, too.
func TestLongPromptsStayBelowTheCapacity(t *testing.T) {
	for _, row := range []struct {
		model, cluster string
		plan           plan.Serving
		isl, osl       int64
	}{
		{"deepseek-r1", "h200x8", plan.Serving{TP: 8}, 16000, 32},
		{"deepseek-r1", "h200x8", plan.Serving{TP: 1, DP: 8, EP: 8}, 16000, 32},
		{"llama-3.1-70b", "h100x4", plan.Serving{TP: 4}, 16000, 2},
		{"llama-3.1-8b", "h100x1", plan.Serving{TP: 1}, 8000, 64},
	} {
		for _, name := range []string{"vllm", "trtllm"} {
			e := mustEngine(t, row.model, row.cluster, row.plan, func(s *infer.Setup) {
				p, err := infer.FindProfile(name, s.Cluster.Device.Arch)
				if err != nil {
					t.Fatal(err)
				}
				s.Profile = p
			})
			full, err := infer.Saturate(e, &infer.Load{ISL: row.isl, OSL: row.osl})
			if err != nil {
				t.Fatal(err)
			}
			for _, fixed := range []bool{false, true} {
				var last infer.Point
				for _, c := range []int64{1, 2, 3, 4, 6, 8, 16, 32, 64} {
					p := mustSteady(t, e, infer.Load{ISL: row.isl, OSL: row.osl, Concurrency: c, Fixed: fixed})
					what := row.model + " on " + name
					if !(p.Requests > 0) || math.IsNaN(float64(p.TTFT)) || math.IsInf(float64(p.TPOT), 0) {
						t.Fatalf("%s, %d clients: %+v", what, c, p)
					}
					if p.Requests > 1.02*full.Requests || p.Requests < 0.97*last.Requests {
						t.Errorf("%s, %d clients (alike: %v): %.4g answers/s after %.4g, the capacity is %.4g", what, c, fixed, p.Requests, last.Requests, full.Requests)
					}
					if p.Queue > 0 && p.Valid() {
						t.Errorf("%s, %d clients queue and the means still speak for single requests", what, c)
					}
					last = p
				}
			}
		}
	}
}

// No load answers more than the capacity that is stated beside it: of replicas of DP
// attention whose caches throw sequences out once they are full, of two micro-batches, and
// of equal and varied lengths.
func TestNoLoadPassesTheCapacity(t *testing.T) {
	for _, row := range []struct {
		cluster  string
		plan     plan.Serving
		isl, osl int64
		overlap  bool
	}{
		{"h200x8", plan.Serving{TP: 1, DP: 8, EP: 8}, 1024, 1024, false},
		{"h200x8", plan.Serving{TP: 1, DP: 8, EP: 8}, 4096, 512, false},
		{"h200x8", plan.Serving{TP: 2, DP: 4, EP: 8}, 4096, 512, false},
		{"h200x8", plan.Serving{TP: 8}, 4096, 512, false},
		{"h800x32", plan.Serving{TP: 1, DP: 32, EP: 32}, 4096, 1024, true},
	} {
		for _, name := range []string{"vllm", "sglang", "trtllm"} {
			e := mustEngine(t, "deepseek-r1", row.cluster, row.plan, func(s *infer.Setup) { s.Profile, _ = infer.FindProfile(name, "hopper") })
			for _, fixed := range []bool{false, true} {
				l := infer.Load{ISL: row.isl, OSL: row.osl, Fixed: fixed}
				if row.overlap {
					l.Stepper = &infer.TwoBatch{Inner: e, Layers: 61, Replicas: row.plan.DP}
				}
				full, err := infer.Saturate(e, &l)
				if err != nil {
					t.Fatal(err)
				}
				for c := 64.0; c < 4*full.Clients; c *= 1.25 {
					l.Concurrency = int64(c)
					if p := mustSteady(t, e, l); p.Requests > 1.005*full.Requests {
						t.Errorf("%s %s on %s, %d/%d, %d clients (alike: %v): %.4g answers/s, at most %.4g are stated", row.cluster, row.plan.String(), name, row.isl, row.osl, l.Concurrency, fixed, p.Requests, full.Requests)
					}
				}
			}
		}
	}
}
