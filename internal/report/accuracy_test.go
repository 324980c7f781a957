package report

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/validate"
)

func TestAccuracyBlocks(t *testing.T) {
	a := &validate.Accuracy{Targets: []validate.Target{
		{What: "GEMM tables", N: 3, Median: 0.06, Mean: 0.2, TargetMedian: 0.07, TargetMean: 0.12, Fitted: "some",
			LeftOut: []validate.TargetLeftOut{{What: "model", N: 2, Median: 0.05, Mean: 0.1}, {What: "gpu", N: 1, Median: 0.08, Mean: 0.1}}},
		{What: "mean TPOT of x", N: 4, Median: 0.02, TargetMedian: 0.03},
		{What: "serving", N: 5, Median: 0.06, Mean: 0.1, TargetMedian: 0.07, TargetMean: 0.12, Fitted: "these rows",
			Cross: []validate.TargetLeftOut{{What: validate.CutRow, N: 5, Median: 0.065, Mean: 0.11}, {What: validate.CutService, N: 5, Median: 0.08, Mean: 0.12}}},
	}, Seconds: map[string]float64{"operators": 2}}
	got := AccuracyBlocks(a, "today")["targets"]
	left := AccuracyBlocks(a, "today")["targets-left-out"]
	for _, want := range []string{"| GEMM tables | model | 2 | 5.0 % | 10.0 % | 7.0 % | 12.0 % |  |", "| GEMM tables | gpu | 1 | 8.0 % | 10.0 % | 7.0 % | 12.0 % | **missed** |"} {
		if !strings.Contains(left, want) {
			t.Errorf("no %q in:\n%s", want, left)
		}
	}
	for _, want := range []string{"today\n", "| GEMM tables | some | 3 | 6.0 %, 20.0 % |  |  | 7.0 %, 12.0 % | **missed** |", "| mean TPOT of x |  | 4 | 2.0 % |  |  | 3.0 % |  |",
		"| serving | these rows | 5 | 6.0 %, 10.0 % | 6.5 %, 11.0 % | 8.0 %, 12.0 % | 7.0 %, 12.0 % | **missed** |", "operators 2.0 s"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

func TestReplaceBlocks(t *testing.T) {
	doc := "a\n<!-- begin serving -->\nold\n<!-- end serving -->\nb\n"
	got, err := ReplaceBlocks(doc, map[string]string{"serving": "new\n", "requests": "absent\n"})
	if want := "a\n<!-- begin serving -->\n\nnew\n\n<!-- end serving -->\nb\n"; err != nil || got != want {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
	if kept, err := ReplaceBlocks(doc, nil); err != nil || kept != doc {
		t.Errorf("%v: %q of no blocks", err, kept)
	}
	again, err := ReplaceBlocks(got, map[string]string{"serving": "new\n"})
	if err != nil || again != got {
		t.Errorf("%v: %q after a second time", err, again)
	}
	for _, bad := range []string{"no marks", "<!-- begin serving -->\nno end"} {
		if _, err := ReplaceBlocks(bad, map[string]string{"serving": "new\n"}); err == nil {
			t.Errorf("%q: want an error", bad)
		}
	}
}
