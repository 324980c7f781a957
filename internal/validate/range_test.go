package validate

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// lone is a run with the constants that it alone would ask for.
type lone struct {
	*Run
	p     *Prediction
	share float64      // sustained, of a dense model
	wait  unit.Seconds // of its experts
}

// aloneList is shared by the tests that leave something out: each run is predicted a few times.
var aloneList []lone

func alone(t *testing.T) []lone {
	t.Helper()
	if aloneList != nil {
		return aloneList
	}
	runs := published(t)
	list := make([]lone, len(runs))
	for i := range runs {
		x := &list[i]
		x.Run = &runs[i]
		inverse, p, err := exact(x.Run, probe{1, 1.25}, func(o *cost.Options, v float64) { o.Sustained = 1 / v })
		if err != nil {
			t.Fatal(err)
		}
		x.p, x.share = p, 1/inverse
		if !p.MoE {
			continue
		}
		w, _, err := exact(x.Run, probe{1e-9, 1e-3}, func(o *cost.Options, v float64) { o.ExpertWait = unit.Seconds(v) })
		if err != nil {
			t.Fatal(err)
		}
		x.wait = unit.Seconds(w)
	}
	aloneList = list
	return list
}

// family is the sustained share that the dense runs of the Megatron family which keep lets in
// give a device, as Refit does: the median of its own runs, where there are enough, else of the
// devices of its generation, else of the generations.
func family(all []lone, p *Prediction, least int, keep func(y *lone) bool) float64 {
	runs := map[string]map[string][]float64{} // by generation and device
	for i := range all {
		y := &all[i]
		if y.p.MoE || !slices.Contains(sustainedSources, y.Source) || !keep(y) {
			continue
		}
		if runs[y.p.Arch] == nil {
			runs[y.p.Arch] = map[string][]float64{}
		}
		runs[y.p.Arch][y.p.Device] = append(runs[y.p.Arch][y.p.Device], y.share)
	}
	archs := map[string]float64{}
	for arch, devices := range runs {
		var shares []float64
		for device, v := range devices {
			if len(v) < least {
				continue
			}
			if device == p.Device {
				return median(v)
			}
			shares = append(shares, median(v))
		}
		if len(shares) > 0 {
			archs[arch] = median(shares)
		}
	}
	if share, ok := archs[p.Arch]; ok {
		return share
	}
	return median(slices.Collect(maps.Values(archs)))
}

// medianOf is the median of what f picks from the runs, 0 of none.
func medianOf(list []lone, f func(x *lone) (float64, bool)) float64 {
	var v []float64
	for i := range list {
		if y, ok := f(&list[i]); ok {
			v = append(v, y)
		}
	}
	if len(v) == 0 {
		return 0
	}
	return median(v)
}

// without predicts a run from what the other runs say: those of other models, or, where
// stranger, those of other GPUs. It gives the measured over the predicted step time.
func without(t *testing.T, all []lone, x *lone, stranger bool) float64 {
	t.Helper()
	far := func(y *lone) bool {
		if stranger {
			return y.p.Device != x.p.Device
		}
		return y.Model != x.Model || y.ArchParams != x.ArchParams
	}
	share := family(all, x.p, leastRows, far)
	o := cost.Options{Sustained: share, ExpertWait: unit.Seconds(medianOf(all, func(y *lone) (float64, bool) {
		return float64(y.wait), y.p.MoE && far(y) && slices.Contains(sustainedSources, y.Source)
	}))}
	if eagerShares[x.Source] > 0 {
		o.Sustained *= medianOf(all, func(y *lone) (float64, bool) {
			if y.Source != x.Source || y.Seq >= longSeq || !stranger && !far(y) {
				return 0, false
			}
			return y.share / family(all, y.p, leastRows, far), true
		})
	}
	with := Predictor{Options: o}
	p, err := with.Predict(x.Run)
	if err != nil {
		t.Fatal(err)
	}
	return p.TokensPerSecondPerGPU() / x.TokensPerSecondPerGPU
}

// The 80 % ranges of steps are the tenths of the runs whose own model was left out of the fit,
// and, for GPUs without runs, of those whose own GPU was.
func TestStepRanges(t *testing.T) {
	if testing.Short() {
		t.Skip("fits over all runs")
	}
	all := alone(t)
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
		for i := range all {
			if all[i].p.MoE == c.moe {
				x := without(t, all, &all[i], c.stranger)
				ratios = append(ratios, x)
				if x >= c.stored[0] && x <= c.stored[1] {
					in++
				}
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
