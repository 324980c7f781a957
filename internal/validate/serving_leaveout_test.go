package validate

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// Every GPU, and every model, left out of the fit in turn: what the engines' constants
// are worth on ground that they have not seen. RIDGELINE_LEAVE_OUT=1 runs it, -update stores it for docs/accuracy.md (minutes: it
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
	stored := LeftOutServing{Written: time.Now().Format("2 January 2006"), Rows: len(runs)}
	for _, k := range []struct {
		what string
		of   func(*ServingRun) string
	}{{"model", modelOfRun}, {"gpu", func(r *ServingRun) string { return r.GPU }}} {
		what, of := k.what, k.of
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
			for _, key := range []string{of(&runs[i]), runs[i].Engine, "each"} {
				if all[key] == nil {
					all[key] = &timeRatios{}
				}
				all[key].add(&s)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(all)) {
			a, b := errorsOf(all[key].tpot), errorsOf(all[key].ttft)
			stored.Groups = append(stored.Groups, Group{Key: map[string]string{"left_out": what, "which": key}, Errors: a, TTFT: &b})
			t.Logf("%-5s %-26s n=%-4d TPOT median %.3f mean %.3f bias %+.3f, TTFT median %.3f mean %.3f", what, key, a.N, a.MedianAPE, a.MAPE, a.Bias, b.MedianAPE, b.MAPE)
		}
		if e := errorsOf(all["each"].tpot); e.MedianAPE > 0.105 {
			t.Errorf("left out by %s: TPOT off by %.3f median", what, e.MedianAPE)
		}
	}
	if *update {
		data, err := json.MarshalIndent(stored, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("serving_left_out.json", append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The stored errors are of the published runs, each way once, and no better than in the fit by far.
func TestStoredLeftOut(t *testing.T) {
	s := StoredLeftOut()
	d := &Document{Rows: s.Rows}
	list := servingLeftOut(d, func(g *Group) *Errors { return &g.Errors })
	if len(list) != 2 || list[0].What != "model" || list[1].What != "gpu" || len(servingLeftOut(d, func(g *Group) *Errors { return g.TTFT })) != 2 {
		t.Fatalf("%+v", list)
	}
	for _, l := range list {
		if l.N < 1000 || l.N > s.Rows || !(l.Median > 0 && l.Median < l.Mean) {
			t.Errorf("%+v of %d rows", l, s.Rows)
		}
	}
	if d.Rows++; servingLeftOut(d, func(g *Group) *Errors { return &g.Errors }) != nil {
		t.Error("another table has the stored errors")
	}
}
