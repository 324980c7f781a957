package validate

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// Every GPU, and every model, left out of the fit in turn: what the engines' constants
// are worth on ground that they have not seen. The stored profiles start the search.
// RIDGELINE_LEAVE_OUT=1 runs it (minutes: it fits every engine anew for each).
func TestServingLeaveOut(t *testing.T) {
	if os.Getenv("RIDGELINE_LEAVE_OUT") == "" {
		t.Skip("set RIDGELINE_LEAVE_OUT=1")
	}
	runs, p := servingRuns(t)
	for what, of := range map[string]func(*ServingRun) string{"model": modelOfRun, "gpu": func(r *ServingRun) string { return r.GPU }} {
		all := map[string]*timeRatios{}
		for _, engine := range valuesOf(runs, engineOfRun) {
			base, err := infer.FindProfile(engine, "")
			if err != nil {
				t.Fatal(err)
			}
			rows, _ := fittedRows(engine, runs, p)
			for v, x := range leaveOut(rows, of, base, knobs, p) {
				for _, key := range []string{v, engine, "all"} {
					if all[key] == nil {
						all[key] = &timeRatios{}
					}
					all[key].tpot, all[key].ttft = append(all[key].tpot, x.tpot...), append(all[key].ttft, x.ttft...)
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(all)) {
			a, b := errorsOf(all[key].tpot), errorsOf(all[key].ttft)
			t.Logf("%-5s %-26s n=%-4d TPOT median %.3f mean %.3f bias %+.3f, TTFT median %.3f mean %.3f", what, key, a.N, a.MedianAPE, a.MAPE, a.Bias, b.MedianAPE, b.MAPE)
		}
		if e := errorsOf(all["all"].tpot); e.MedianAPE > 0.2 {
			t.Errorf("left out by %s: TPOT off by %.3f median", what, e.MedianAPE)
		}
	}
}
