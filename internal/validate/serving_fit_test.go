package validate

import (
	"flag"
	"os"
	"testing"

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
	for _, e := range releasesOf(runs, p) {
		if e.engine != "sglang" { // the one with the fewest rows
			continue
		}
		base, err := infer.FindProfileOf(e.engine, e.rows[0].Version, "")
		if err != nil {
			t.Fatal(err)
		}
		x := aboutOf(e.rows, usual(base), knobs, between)
		stored := ProfileFit{Profile: *base}
		if a, b := stored.loss(e.rows, x, p), fitOne(e.rows, x, p).Loss; a > slack*b {
			t.Errorf("%s before %q: the stored constants lose %.4f, a refit %.4f: run go test ./internal/validate -run ProfilesAreTheFit -update-profiles", e.engine, e.before, a, b)
		}
	}
}

func storeProfiles(t *testing.T, runs []ServingRun, p *ServingPredictor) {
	fits, _, err := FitProfiles(t.Context(), runs, p.Configs)
	if err != nil {
		t.Fatal(err)
	}
	data, err := infer.EncodeProfiles(Stored(fits, infer.Profiles(), "InferenceX, and lab runs collected in aiconfigurator, Apache-2.0"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(profilesFile, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
