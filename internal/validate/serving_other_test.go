package validate

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// Any other engine is what is expected of a release without runs.
func TestAnotherEngineIsTheUnseenRelease(t *testing.T) {
	p, err := infer.FindProfile(infer.OtherEngine, "hopper")
	if err != nil {
		t.Fatal(err)
	}
	x := unseen(p)
	for _, k := range knobs {
		if got, want := k.of(p), k.of(x); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %g, want %g", k.key, got, want)
		}
	}
}

// Rows of an engine that has no profile are scored, as those of any other engine, and the document says
// so once, with their number.
func TestRowsOfAnotherEngineAreScored(t *testing.T) {
	text := servingHeader
	for _, name := range []string{"tgi", "other", "TGI"} {
		text += "row-" + name + ",llama-3.1-8b,h100," + name + ",,aggregated,bf16,,none,1024,256,8,1,1,1,1,1,100,8\n"
	}
	runs, bad, err := ReadServing(strings.NewReader(text), "x")
	if err != nil || len(bad) > 0 {
		t.Fatal(bad, err)
	}
	d := Serving(context.Background(), runs, bad, &ServingPredictor{})
	if d.Scored != 3 || d.Predictions[0].Predicted != d.Predictions[1].Predicted || *d.Predictions[0].TTFTPredicted != *d.Predictions[1].TTFTPredicted {
		t.Errorf("%d scored: %+v", d.Scored, d.Predictions)
	}
	if len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "Engine tgi has no profile: its rows (2)") {
		t.Errorf("notes %q", d.Notes)
	}
}
