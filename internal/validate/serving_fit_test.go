package validate

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
)

const profilesFile = "../infer/profiles.json"

const sharedFolder = "../../../shared/"

var updateProfiles = flag.Bool("update-profiles", false, "write the refitted engine profiles into package infer")

func servingRuns(t testing.TB) ([]ServingRun, *ServingPredictor) {
	t.Helper()
	f, err := os.Open(sharedFolder + "measured/inference_runs.csv")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	runs, bad, err := ReadServing(f, "inference_runs.csv")
	if err != nil || len(bad) > 0 {
		t.Fatal(bad, err)
	}
	return runs, &ServingPredictor{Configs: sharedFolder + "hf-configs"}
}

// The stored profiles are the fit, to what rounding and a change of kernels since
// then may cost. With -update-profiles the test stores a new one; it takes minutes.
func TestProfilesAreTheFit(t *testing.T) {
	runs, p := servingRuns(t)
	if *updateProfiles {
		storeProfiles(t, runs, p)
		return
	}
	const slack = 1.03
	for _, engine := range []string{"sglang"} { // the one with the fewest rows
		var rows []ServingRun
		for _, r := range runs {
			if r.Engine == engine {
				rows = append(rows, r)
			}
		}
		base, err := infer.FindProfile(engine, "")
		if err != nil {
			t.Fatal(err)
		}
		stored := ProfileFit{Profile: *base}
		if a, b := stored.loss(rows, p), fitOne(rows, base, knobs, p).Loss; a > slack*b {
			t.Errorf("%s: the stored constants lose %.4f, a refit %.4f: run go test ./internal/validate -run ProfilesAreTheFit -update-profiles", engine, a, b)
		}
	}
}

func storeProfiles(t *testing.T, runs []ServingRun, p *ServingPredictor) {
	fits, err := FitProfiles(runs, p)
	if err != nil {
		t.Fatal(err)
	}
	var list []infer.Profile
	for _, f := range fits {
		f.Profile.Grade = hw.Measured
		f.Profile.Source = fmt.Sprintf("fitted on %d serving runs (InferenceX, and lab runs collected in aiconfigurator, Apache-2.0): TPOT off by %.1f %% median, %.1f %% mean, TTFT %.1f %%, %.1f %%",
			f.Rows, 100*f.TPOT.MedianAPE, 100*f.TPOT.MAPE, 100*f.TTFT.MedianAPE, 100*f.TTFT.MAPE)
		if f.HeldTPOT.N > 0 {
			f.Profile.Source += fmt.Sprintf("; models held out %.1f %%, %.1f %% and %.1f %%, %.1f %%", 100*f.HeldTPOT.MedianAPE, 100*f.HeldTPOT.MAPE, 100*f.HeldTTFT.MedianAPE, 100*f.HeldTTFT.MAPE)
		}
		list = append(list, f.Profile)
	}
	data, err := os.ReadFile(profilesFile)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := infer.DecodeProfiles(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range stored { // keep those of generations without serving runs
		if !slices.ContainsFunc(list, func(p infer.Profile) bool { return p.Engine == q.Engine && p.Arch == q.Arch }) {
			list = append(list, q)
		}
	}
	data, err = infer.EncodeProfiles(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(profilesFile, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
