package validate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/infer"
)

// madeRuns are runs of one model, "measured" by the predictor itself with a profile.
func madeRuns(t *testing.T, n int, with *infer.Profile) []ServingRun {
	t.Helper()
	text := servingHeader
	for i := range n {
		text += fmt.Sprintf("r%d,llama-3.1-8b,h100,vllm,,aggregated,bf16,,none,%d,%d,%d,%d,%d,1,1,1,60,8\n", i, 512<<(i%3), 256+i/12, 4<<(i%4), 1<<(i%2), 1<<(i%2))
	}
	runs, bad, err := ReadServing(strings.NewReader(text), "x")
	if err != nil || len(bad) > 0 {
		t.Fatal(bad, err)
	}
	p := &ServingPredictor{Profile: func(string, string, string) (*infer.Profile, error) { return with, nil }}
	for i := range runs {
		x, err := p.Predict(&runs[i])
		if err != nil {
			t.Fatal(err)
		}
		runs[i].TPOT, runs[i].TTFT = 1e3*float64(x.TPOT), 1e3*float64(x.TTFT)
	}
	return runs
}

// A fit to runs of a machine finds constants that made them, held-out runs included.
func TestFitMachineFindsTheConstants(t *testing.T) {
	c, err := catalog.Cluster("h100x8")
	if err != nil {
		t.Fatal(err)
	}
	made := *infer.DefaultProfile("hopper")
	made.Launch, made.Arrival, made.Admission = 0.2, 1.3, 9
	runs := madeRuns(t, 14, &made)
	other := runs[0]
	other.ID, other.GPU = "elsewhere", "b200"
	fits, skipped, err := FitMachine(t.Context(), append(slices.Clone(runs), other), c, "")
	if err != nil || len(fits) != 1 || fits[0].Kept["step_us"] == "" || fits[0].Kept["admission_steps"] != "" || len(skipped) != 1 || skipped[0].ID != "elsewhere" {
		t.Fatalf("%+v, %+v, %v", fits, skipped, err)
	}
	f := &fits[0]
	if f.TPOT.MAPE > 0.02 || f.HeldTPOT.MAPE > 0.03 || f.TTFT.MAPE > 0.05 {
		t.Errorf("off by %.3f, held out %.3f, TTFT %.3f", f.TPOT.MAPE, f.HeldTPOT.MAPE, f.TTFT.MAPE)
	}
	if math.Abs(f.Profile.Admission-made.Admission) > 1 {
		t.Errorf("admission %g, made with %g", f.Profile.Admission, made.Admission)
	}
	fits, skipped, err = FitMachine(t.Context(), runs[:3], c, "")
	if err != nil || len(fits) != 0 || len(skipped) != 1 || !strings.Contains(skipped[0].Reason, "at least 12") {
		t.Errorf("three runs: %+v, %+v, %v", fits, skipped, err)
	}
}

// Runs that no fit explains are refused by name and amount; a run under several ids is one.
func TestRunsThatNoFitExplains(t *testing.T) {
	c, err := catalog.Cluster("h100x8")
	if err != nil {
		t.Fatal(err)
	}
	made := madeRuns(t, 12, infer.DefaultProfile("hopper"))
	for says, change := range map[string]func(i int, r *ServingRun){
		"run r3 cannot be explained: its tpot_ms is": func(i int, r *ServingRun) {
			if i == 3 {
				r.TPOT /= 1e3
			}
		},
		"TPOT of the best fit is off by": func(_ int, r *ServingRun) { r.TPOT *= 5 },
		"TTFT of the best fit is off by": func(_ int, r *ServingRun) { r.TTFT *= 1e3 },
	} {
		runs := slices.Clone(made)
		for i := range runs {
			change(i, &runs[i])
		}
		if _, _, err := FitMachine(t.Context(), runs, c, ""); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "nothing is written") {
			t.Errorf("%q: %v", says, err)
		}
	}
	runs := slices.Repeat(made[:1], 14)
	for i := range runs {
		runs[i].ID = fmt.Sprint("copy", i)
	}
	if fits, skipped, err := FitMachine(t.Context(), runs, c, ""); err != nil || len(fits) != 0 || len(skipped) != 14 || skipped[0].ID != "copy1" {
		t.Errorf("a run 14 times: %d fits, %+v, %v", len(fits), skipped, err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := FitProfiles(stopped, made, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if _, _, err := FitMachine(stopped, made, c, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
