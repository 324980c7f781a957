package infer_test

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// Tokens found in the prefix cache are not read, but are attended to and held: a prompt with
// them costs less than without and more than one of the rest alone, in one role and in two.
func TestCachedTokens(t *testing.T) {
	e := mustEngine(t, "llama-3.1-8b", "h100x1", plan.Serving{TP: 1}, nil)
	for _, users := range []int64{1, 16} {
		whole := mustSteady(t, e, infer.Load{ISL: 8000, OSL: 64, Concurrency: users})
		cached := mustSteady(t, e, infer.Load{ISL: 8000, OSL: 64, Cached: 6000, Concurrency: users})
		rest := mustSteady(t, e, infer.Load{ISL: 2000, OSL: 64, Concurrency: users})
		if !(rest.TTFT < cached.TTFT && cached.TTFT < whole.TTFT) || !(rest.Requests > cached.Requests && cached.Requests > whole.Requests) || cached.Room < rest.Room {
			t.Errorf("%d users: %+v, without cache %+v, of the rest alone %+v", users, cached, whole, rest)
		}
	}
	d := infer.Disagg{Prefill: e, Decode: e, PrefillGPUs: 1, DecodeGPUs: 1, ISL: 8000, OSL: 64, PrefillTokens: 4000, MaxDecode: 64}
	whole := d.ReadTime(1)
	if d.Cached = 6000; d.Prompts() != 2 || !(d.ReadTime(1) < whole/3) {
		t.Errorf("%d prompts in a step, read in %v, in %v without cache", d.Prompts(), d.ReadTime(1), whole)
	}
	for _, bad := range []int64{-1, 8000} {
		if _, err := infer.Steady(e, &infer.Load{ISL: 8000, OSL: 64, Cached: bad, Concurrency: 1}); err == nil || !strings.Contains(err.Error(), "fewer than the prompt has") {
			t.Errorf("%d cached: %v", bad, err)
		}
	}
}
