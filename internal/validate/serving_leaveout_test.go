package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// leaveOutWay is a way to leave serving runs out of the fit: those that share a value of of are
// left out together. Their median error of TPOT may be most, and by says whose runs are stated apart.
type leaveOutWay struct {
	what string
	most float64
	of   func(*ServingRun) string
	by   []func(*ServingRun) string
}

var leaveOuts = []leaveOutWay{
	{"model", 0.09, modelOfRun, []func(*ServingRun) string{modelOfRun, engineOfRun}},
	{"gpu", 0.09, gpuOfRun, []func(*ServingRun) string{gpuOfRun, engineOfRun}},
	{"engine", 0.2, engineOfRun, []func(*ServingRun) string{engineOfRun, gpuOfRun}},
	{CutRow, 0.08, func(r *ServingRun) string { return foldOf(r.ID) }, []func(*ServingRun) string{modelOfRun, gpuOfRun, engineOfRun}},
	{CutService, 0.1, func(r *ServingRun) string { return foldOf(r.service()) }, []func(*ServingRun) string{modelOfRun, gpuOfRun, engineOfRun}},
}

func gpuOfRun(r *ServingRun) string { return r.GPU }

// Every model, every GPU, and every fifth of the rows and of the services, left out of the fit in
// turn: what the engines' constants are worth on ground that they have not seen.
// RIDGELINE_LEAVE_OUT=1 runs it, or a list such as row,service; -update stores what was run for
// docs/accuracy.md (minutes: it fits every engine anew for each part).
func TestServingLeaveOut(t *testing.T) {
	asked := os.Getenv("RIDGELINE_LEAVE_OUT")
	if asked == "" {
		t.Skip("set RIDGELINE_LEAVE_OUT to 1, or to some of model,gpu,engine,row,service")
	}
	runs, p := servingRuns(t)
	releases := releasesOf(runs, p)
	fits := storedFits(releases) // of releases without the value
	stored := *StoredLeftOut()
	stored.Rows = len(runs)
	for _, k := range leaveOuts {
		if asked != "1" && !slices.Contains(strings.Split(asked, ","), k.what) {
			continue
		}
		held, err := leaveOut(releases, fits, k.of, p)
		if err != nil {
			t.Fatal(err)
		}
		cut := LeftOutCut{LeftOut: k.what, Written: time.Now().Format("2 January 2006")}
		all := map[string]*timeRatios{}
		for i := range runs {
			s, ok := held[runs[i].ID]
			if !ok && cut.folded() { // two roles and speculation, which are in no fit
				x, err := p.Predict(&runs[i])
				if err != nil {
					t.Fatal(runs[i].ID, err)
				}
				s, ok = scoredServing(&runs[i], x), true
			}
			if !ok {
				continue
			}
			keys := []string{"each"}
			for _, by := range k.by {
				keys = append(keys, by(&runs[i]))
			}
			for _, key := range keys {
				if all[key] == nil {
					all[key] = &timeRatios{}
				}
				all[key].add(&s)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(all)) {
			a, b := all[key].errors()
			cut.Groups = append(cut.Groups, Group{Key: map[string]string{"which": key}, Errors: a, TTFT: &b})
			t.Logf("%-7s %-26s n=%-4d TPOT median %.3f mean %.3f bias %+.3f, TTFT median %.3f mean %.3f, ranges hold %s %s", k.what, key, a.N, a.MedianAPE, a.MAPE, a.Bias, b.MedianAPE, b.MAPE, share(a.Coverage), share(b.Coverage))
		}
		if e := errorsOf(all["each"].tpot); e.MedianAPE > k.most {
			t.Errorf("left out by %s: TPOT off by %.3f median", k.what, e.MedianAPE)
		}
		stored.Cuts = append(slices.DeleteFunc(slices.Clone(stored.Cuts), func(c LeftOutCut) bool { return c.LeftOut == k.what }), cut)
	}
	if *update {
		storeLeftOut(t, &stored)
	}
}

// share is a share's text; "none" of nil.
func share(v *float64) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprintf("%.3f", *v)
}

// storeLeftOut keeps cuts in the order of leaveOuts.
func storeLeftOut(t *testing.T, s *LeftOutServing) {
	t.Helper()
	place := func(c LeftOutCut) int {
		return slices.IndexFunc(leaveOuts, func(k leaveOutWay) bool { return k.what == c.LeftOut })
	}
	slices.SortStableFunc(s.Cuts, func(a, b LeftOutCut) int { return place(a) - place(b) })
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("serving_left_out.json", append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The stored errors are of the published runs, each way once, and no better than in the fit by far.
func TestStoredLeftOut(t *testing.T) {
	s := StoredLeftOut()
	d := &Document{Rows: s.Rows}
	tpot := func(g *Group) *Errors { return &g.Errors }
	left, cross := servingLeftOut(d, tpot)
	var names []string
	for _, l := range append(left, cross...) {
		names = append(names, l.What)
		if l.N < 1000 || l.N > s.Rows || !(l.Median > 0 && l.Median < l.Mean) {
			t.Errorf("%+v of %d rows", l, s.Rows)
		}
	}
	if want := []string{"model", "gpu", "engine", CutRow, CutService}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	for _, l := range cross {
		if l.N != s.Rows {
			t.Errorf("%s: %d of %d rows", l.What, l.N, s.Rows)
		}
	}
	d.Rows++
	if left, cross = servingLeftOut(d, tpot); len(left)+len(cross) > 0 {
		t.Error("another table has the stored errors")
	}
}
