package validate

import (
	"math"
	"slices"
	"testing"

	"github.com/ridgeline/ridgeline/internal/train"
)

// aloneList is shared by the tests that leave something out: each run is predicted a few times.
var aloneList []lone

func aloneRuns(t *testing.T) []lone {
	t.Helper()
	if aloneList == nil {
		var err error
		if aloneList, err = alone(t.Context(), published(t), &Predictor{}); err != nil {
			t.Fatal(err)
		}
	}
	return aloneList
}

// The 80 % ranges of steps are the tenths of the runs whose own model was left out of the fit,
// and, for GPUs without runs, of those whose own GPU was.
func TestStepRanges(t *testing.T) {
	if testing.Short() {
		t.Skip("fits over all runs")
	}
	all := aloneRuns(t)
	var without [2][]float64
	for k := range without {
		var err error
		if without[k], err = lefts[k].ratios(t.Context(), all, &Predictor{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what          string
		moe, stranger bool
		stored        [2]float64
	}{
		{"dense, another model", false, false, train.DenseRange}, {"moe, another model", true, false, train.MoERange},
		{"dense, another GPU", false, true, train.DenseStrangerRange}, {"moe, another GPU", true, true, train.MoEStrangerRange},
	} {
		var ratios []float64
		in := 0
		list := without[0]
		if c.stranger {
			list = without[1]
		}
		for i, x := range list {
			if x == 0 || all[i].p.MoE != c.moe { // 0: nothing tells a share
				continue
			}
			ratios = append(ratios, x)
			if x >= c.stored[0] && x <= c.stored[1] {
				in++
			}
		}
		slices.Sort(ratios)
		low, high := quantile(ratios, 0.1), quantile(ratios, 0.9)
		share := float64(in) / float64(len(ratios))
		t.Logf("%s: %d runs, tenths %.3f and %.3f; %.3f within the stored range %v", c.what, len(ratios), low, high, share, c.stored)
		if share < 0.75 || share > 0.85 || math.Abs(low-c.stored[0]) > 0.03 || math.Abs(high-c.stored[1]) > 0.06 {
			t.Errorf("%s: the range %v holds %.3f of the held-out runs, their tenths are %.3f and %.3f", c.what, c.stored, share, low, high)
		}
	}
}
