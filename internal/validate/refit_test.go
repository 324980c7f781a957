package validate

import (
	"math"
	"slices"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// The stored constants are those of a fit over the published runs.
func TestStoredConstantsAreTheFit(t *testing.T) {
	if testing.Short() {
		t.Skip("fits over all runs")
	}
	fit, err := Refit(published(t))
	if err != nil {
		t.Fatal(err)
	}
	for arch, want := range fit.Sustained {
		got := catalog.Kernels(arch).Sustained
		if math.Abs(got.Share-want.Share) > 0.02 {
			t.Errorf("%s: share %.4f is stored, the fit gives %.4f", arch, got.Share, want.Share)
		}
		for _, d := range want.Devices {
			t.Logf("%s %+v", arch, d)
			if math.Abs(got.Of(d.Device)-d.Share) > 0.02 {
				t.Errorf("%s: share %.4f is stored, the fit gives %.4f", d.Device, got.Of(d.Device), d.Share)
			}
		}
	}
	if got := catalog.Kernels("generic").Sustained; !got.Assumed || math.Abs(got.Share-fit.Generic().Share) > 0.02 {
		t.Errorf("generic: %+v is stored, the fit gives %.4f", got, fit.Generic().Share)
	}
	for source, want := range fit.Eager {
		t.Logf("%s %.4f", source, want)
		if math.Abs(eagerShares[source]-want) > 0.01 {
			t.Errorf("%s: share %.3f is stored, the fit gives %.3f", source, eagerShares[source], want)
		}
	}
	for arch, want := range fit.Attention {
		t.Logf("older attention on %s %.2f", arch, want)
		if math.Abs(olderAttention[arch]-want) > 0.05 {
			t.Errorf("older attention on %s: %.3f is stored, the fit gives %.3f", arch, olderAttention[arch], want)
		}
	}
	t.Logf("expert wait %.4g s over %d runs, quartiles %.4g", fit.ExpertWait, fit.ExpertRows, fit.Quartiles)
	if got := storedExpertWait(t); math.Abs(float64(got/fit.ExpertWait)-1) > 0.1 {
		t.Errorf("expert wait: %.4g s is stored, the fit gives %.4g s", got, fit.ExpertWait)
	}
}

func storedExpertWait(t *testing.T) unit.Seconds {
	t.Helper()
	c, err := catalog.Cluster("h100x8")
	if err != nil {
		t.Fatal(err)
	}
	m, err := cost.New(c, cost.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m.ExpertWait()
}

// Without a source's own runs in the fit its dense runs are still predicted:
// this is what an engine nobody has fitted gets. The shares of a GPU then come
// from its other sources, or, where fewer than five runs are left (zb), from the other
// generations.
func TestLeaveOneSourceOut(t *testing.T) {
	if testing.Short() {
		t.Skip("fits over all runs")
	}
	limits := map[string]float64{"dgxc": 0.12, "mbridge": 0.20, "nemo": 0.10, "selrec": 0.15, "simumax": 0.20, "zb": 0.18}
	all := aloneRuns(t)
	for _, source := range sustainedSources {
		var ratios []float64
		others := newAgain(slices.DeleteFunc(slices.Clone(all), func(y lone) bool { return y.Source == source }), &Predictor{})
		for i := range all {
			x := &all[i]
			if x.Source != source || x.p.MoE {
				continue
			}
			with := Predictor{Options: cost.Options{Sustained: others.share(x.p)}}
			p, err := with.Predict(x.Run)
			if err != nil {
				t.Fatal(err)
			}
			ratios = append(ratios, p.TokensPerSecondPerGPU()/x.TokensPerSecondPerGPU)
		}
		e := errorsOf(ratios)
		t.Logf("without %-8s n %d median %.3f mean %.3f bias %+.3f", source, e.N, e.MedianAPE, e.MAPE, e.Bias)
		if e.MedianAPE > limits[source] {
			t.Errorf("%s: median error %.3f when left out, above %.2f", source, e.MedianAPE, limits[source])
		}
	}
}

// An engine's share fitted on every other run holds on the rest: errors of these by engine.
func TestEagerSharesHoldOut(t *testing.T) {
	if testing.Short() {
		t.Skip("fits over all runs")
	}
	runs := published(t)
	stored := &Fit{Sustained: map[string]hw.Sustained{}, Eager: map[string]float64{}}
	for _, arch := range []string{"ampere", "hopper", "blackwell"} {
		stored.Sustained[arch] = catalog.Kernels(arch).Sustained
	}
	for source, most := range map[string]float64{"mosaic": 0.06, "bloom": 0.12} {
		var fitted, held []Run
		for _, r := range runs {
			if r.Source != source || r.Seq >= longSeq {
				continue
			}
			if len(fitted) > len(held) {
				held = append(held, r)
			} else {
				fitted = append(fitted, r)
			}
		}
		if err := stored.eager(fitted, source); err != nil {
			t.Fatal(err)
		}
		var ratios []float64
		for i := range held {
			var base Predictor
			p, err := base.Predict(&held[i])
			if err != nil {
				t.Fatal(err)
			}
			with := Predictor{Options: cost.Options{Sustained: stored.of(p) * stored.Eager[source]}}
			if p, err = with.Predict(&held[i]); err != nil {
				t.Fatal(err)
			}
			ratios = append(ratios, p.TokensPerSecondPerGPU()/held[i].TokensPerSecondPerGPU)
		}
		e := errorsOf(ratios)
		t.Logf("%s: share %.3f from %d runs; held out n %d median %.3f mean %.3f bias %+.3f", source, stored.Eager[source], len(fitted), e.N, e.MedianAPE, e.MAPE, e.Bias)
		if e.MedianAPE > most {
			t.Errorf("%s: median error %.3f on runs held out, above %.2f", source, e.MedianAPE, most)
		}
	}
}
