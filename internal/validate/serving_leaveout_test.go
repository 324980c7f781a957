package validate

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// Every GPU, and every model, left out of the fit in turn: what the engines' constants
// are worth on ground that they have not seen. RIDGELINE_LEAVE_OUT=1 runs it (minutes: it
// fits every engine anew for each).
func TestServingLeaveOut(t *testing.T) {
	if os.Getenv("RIDGELINE_LEAVE_OUT") == "" {
		t.Skip("set RIDGELINE_LEAVE_OUT=1")
	}
	runs, p := servingRuns(t)
	releases := releasesOf(runs, p)
	fits := make([][]ProfileFit, len(releases)) // the stored ones, of releases without the value
	for i, e := range releases {
		for _, q := range infer.Profiles() {
			if q.Engine == e.engine && q.Before == e.before {
				fits[i] = append(fits[i], ProfileFit{Profile: q})
			}
		}
	}
	for what, of := range map[string]func(*ServingRun) string{"model": modelOfRun, "gpu": func(r *ServingRun) string { return r.GPU }} {
		held, err := leaveOut(releases, fits, of, p)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]*timeRatios{}
		for i := range runs {
			s, ok := held[runs[i].ID]
			if !ok {
				continue
			}
			for _, key := range []string{of(&runs[i]), runs[i].Engine, "all"} {
				if all[key] == nil {
					all[key] = &timeRatios{}
				}
				all[key].add(&s)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(all)) {
			a, b := errorsOf(all[key].tpot), errorsOf(all[key].ttft)
			t.Logf("%-5s %-26s n=%-4d TPOT median %.3f mean %.3f bias %+.3f, TTFT median %.3f mean %.3f", what, key, a.N, a.MedianAPE, a.MAPE, a.Bias, b.MedianAPE, b.MAPE)
		}
		if e := errorsOf(all["all"].tpot); e.MedianAPE > 0.115 {
			t.Errorf("left out by %s: TPOT off by %.3f median", what, e.MedianAPE)
		}
	}
}
