package validate

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// A row stays in its part, and the parts of the published runs are of about one size; rows of one
// service stay together.
func TestFolds(t *testing.T) {
	if a, b := foldOf("r0001"), foldOf("r0002"); a != "3" || b != "2" {
		t.Errorf("folds %s and %s: the stored errors are of other parts", a, b)
	}
	runs, _ := servingRuns(t)
	rows, services, of := map[string]int{}, map[string]int{}, map[string]string{}
	for i := range runs {
		r := &runs[i]
		rows[foldOf(r.ID)]++
		services[foldOf(r.service())]++
		of[r.service()] = foldOf(r.service())
	}
	if len(rows) != folds || len(services) != folds || len(of) < 100 {
		t.Fatalf("%v, %v, %d services", rows, services, len(of))
	}
	for k, n := range rows {
		if n < len(runs)/folds*3/4 || n > len(runs)/folds*5/4 {
			t.Errorf("part %s holds %d of %d rows", k, n, len(runs))
		}
	}
	t.Log(rows, services, len(of))
}

// The wait that a run asks for under another sustained share is the one that is solved for there.
func TestWaitFollowsTheShare(t *testing.T) {
	var runs []Run
	for _, r := range published(t) {
		if r.ID == "t0182" || r.ID == "t0399" {
			runs = append(runs, r)
		}
	}
	all, err := alone(t.Context(), runs, &Predictor{})
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	for i := range all {
		x := &all[i]
		for _, share := range []float64{0.7, 0.9} {
			by := Predictor{Options: cost.Options{Sustained: share}}
			s, _, err := solveBy(&by, x.Run, probe{1e-9, 1e-3}, func(o *cost.Options, v float64) { o.ExpertWait = unit.Seconds(v) })
			if got := float64(x.waitAt(share)); err != nil || math.Abs(got-s.value) > 0.1*math.Abs(s.value)+5e-5 {
				t.Errorf("%s at %g: %g s, solved %g s, %v", x.ID, share, got, s.value, err)
			}
		}
	}
}

func TestLayoutPattern(t *testing.T) {
	for want, p := range map[string]plan.Plan{
		"tp pp vpp ep dp": {TP: 2, CP: 1, PP: 4, VPP: 2, EP: 8, DP: 8, ZeRO: 1},
		"cp fsdp":         {TP: 1, CP: 2, PP: 1, VPP: 1, EP: 1, DP: 8, ZeRO: 3},
		"one gpu":         {TP: 1, CP: 1, PP: 1, VPP: 1, EP: 1, DP: 1},
	} {
		if got := layoutPattern(&p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
