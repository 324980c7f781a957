package validate

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
)

var updateRanges = flag.Bool("update-ranges", false, "write the refitted ranges of predictions into package infer")

const rangesFile = "../infer/ranges.json"

// Ranges hold as many of the measured values as they say, each model judged by the
// others' errors: 75 to 85 %. What is stored is the fit, to what a change of prices
// since then may cost. With -update-ranges the test stores a new one.
func TestRangesHold(t *testing.T) {
	runs, p := servingRuns(t)
	fit, err := FitRanges(runs, p)
	if err != nil {
		t.Fatal(err)
	}
	if *updateRanges {
		data, err := json.MarshalIndent(fit, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(rangesFile, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(rangesFile)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := infer.DecodeRanges(data)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range fit {
		for _, x := range []struct {
			what     string
			held     float64
			fit, has infer.Range
		}{{"tpot", f.HeldTPOT, f.TPOT, stored[i].TPOT}, {"ttft", f.HeldTTFT, f.TTFT, stored[i].TTFT}} {
			t.Logf("measured %v: %s %.3f to %.3f holds %.3f with each model left out", f.Measured, x.what, x.has.Low, x.has.High, x.held)
			if x.held < 0.75 || x.held > 0.85 {
				t.Errorf("measured %v: the range of %s holds %.3f with each model left out", f.Measured, x.what, x.held)
			}
			const slack = 1.15
			if x.has.Low > slack*x.fit.Low || x.fit.Low > slack*x.has.Low || x.has.High > slack*x.fit.High || x.fit.High > slack*x.has.High {
				t.Errorf("measured %v: the range of %s is stored as %+v, a refit %+v: run go test ./internal/validate -run RangesHold -update-ranges", f.Measured, x.what, x.has, x.fit)
			}
		}
	}
	// Where nothing was measured, ranges are wider.
	if a, b := stored[0].TPOT, stored[1].TPOT; a.High/a.Low > b.High/b.Low {
		t.Errorf("tpot %+v of measured generations, %+v of others", a, b)
	}
}

// By hand: of two groups around 0, each judged by the other's spread.
func TestHeldOut(t *testing.T) {
	groups := map[string][]float64{"a": {-2, -1, 0, 1, 2}, "b": {-4, -1, 0, 1, 4}}
	if got := heldOut(groups, 0); got != 0.8 { // all of a lie in b's, three of five in a's
		t.Errorf("%g", got)
	}
}
