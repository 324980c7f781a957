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

// megatronSources are engines of the Megatron family with fused kernels or with kernels that
// package work can list. bloom's kernels of 2021 and mosaic's eager ones are not among them:
// these have shares of their own.
var megatronSources = []string{"dgxc", "mbridge", "nemo", "selrec", "simumax", "zb"}

// The stored constants are those of a fit over the published runs.
func TestStoredConstantsAreTheFit(t *testing.T) {
	if testing.Short() {
		t.Skip("fits over all runs")
	}
	all := aloneRuns(t)
	for i := range all {
		if s := all[i].Source; (eagerShares[s] > 0) == slices.Contains(megatronSources, s) {
			t.Fatalf("%s: the runs of %q are either of the Megatron family or of an engine with a share of its own", all[i].ID, s)
		}
	}
	fit := newAgain(all, &Predictor{})
	storedSharesAreTheFit(t, fit)
	for source, got := range eagerShares {
		want := fit.engineShare(source)
		t.Logf("%s %.4f", source, want)
		if math.Abs(got-want) > 0.01 {
			t.Errorf("%s: share %.3f is stored, the fit gives %.3f", source, got, want)
		}
	}
	want := fit.strangersShare(&Run{ZeRO: 1})
	t.Logf("an engine that no run tells %.4f", want)
	if math.Abs(strangersShare-want) > 0.01 {
		t.Errorf("an engine that no run tells: share %.3f is stored, the fit gives %.3f", strangersShare, want)
	}
	for arch, got := range olderAttention {
		want, err := fit.olderAttention(arch)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("older attention on %s %.3f", arch, want)
		if math.Abs(got-want) > 0.05 {
			t.Errorf("older attention on %s: %.3f is stored, the fit gives %.3f", arch, got, want)
		}
	}
	waits := fit.expertWaits()
	slices.Sort(waits)
	t.Logf("expert wait %.4g s over %d runs, quartiles %.4g %.4g", fit.expertWait(), len(waits), quantile(waits, 0.25), quantile(waits, 0.75))
	if got := storedExpertWait(t); math.Abs(float64(got/fit.expertWait())-1) > 0.1 {
		t.Errorf("expert wait: %.4g s is stored, the fit gives %.4g s", got, fit.expertWait())
	}
}

// storedSharesAreTheFit compares the sustained shares of devices, of generations, of
// generations without runs, and what a watt holds.
func storedSharesAreTheFit(t *testing.T, again *again) {
	t.Helper()
	same := func(what string, got, want float64) {
		if math.Abs(got-want) > 0.02 {
			t.Errorf("%s: share %.4f is stored, the fit gives %.4f", what, got, want)
		}
	}
	fit, runs := again.shareFit(), denseShares(again.runs)
	t.Logf("held per watt %.3g", fit.held)
	if math.Abs(hw.HeldPerWatt/fit.held-1) > 0.03 {
		t.Errorf("%.3g FLOP/s per watt are stored, the fit gives %.3g", hw.HeldPerWatt, fit.held)
	}
	for device, d := range fit.devices {
		v := runs[device]
		slices.Sort(v)
		t.Logf("%s %s: %.4f at %.1f GFLOP/s per watt over %d runs, quartiles %.4f %.4f", d.arch, device, d.share, d.perWatt/1e9, len(v), quantile(v, 0.25), quantile(v, 0.75))
		stored := catalog.Kernels(d.arch).Sustained
		same(device, stored.Of(d.perWatt, device), d.share)
		if i := slices.IndexFunc(stored.Devices, func(x hw.DeviceShare) bool { return x.Device == device }); i < 0 || math.Abs(stored.Devices[i].PerWatt/d.perWatt-1) > 1e-3 {
			t.Errorf("%s: stored %+v, it multiplies %.1f GFLOP/s per watt", device, stored.Devices, d.perWatt/1e9)
		}
	}
	for _, arch := range []string{"ampere", "hopper", "blackwell", "generic"} {
		stored := catalog.Kernels(arch).Sustained
		t.Logf("%s %.4f where no power limit binds", arch, fit.unlimited())
		same(arch, stored.Share, fit.unlimited())
		if stored.Assumed != (arch == "generic") {
			t.Errorf("%s: %+v is stored", arch, stored)
		}
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
	for _, source := range megatronSources {
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
	all := aloneRuns(t)
	for source, most := range map[string]float64{"mosaic": 0.06, "bloom": 0.12} {
		var fitted, held []lone
		own := 0
		for _, x := range all {
			switch {
			case x.Source != source:
				fitted = append(fitted, x)
			case x.Seq < longSeq:
				if own++; own%2 == 1 {
					fitted = append(fitted, x)
				} else {
					held = append(held, x)
				}
			}
		}
		fit := newAgain(fitted, &Predictor{})
		var ratios []float64
		for i := range held {
			x := &held[i]
			with := Predictor{Options: cost.Options{Sustained: fit.share(x.p) * fit.engineShare(source)}}
			p, err := with.Predict(x.Run)
			if err != nil {
				t.Fatal(err)
			}
			ratios = append(ratios, p.TokensPerSecondPerGPU()/x.TokensPerSecondPerGPU)
		}
		e := errorsOf(ratios)
		t.Logf("%s: share %.3f from %d runs; held out n %d median %.3f mean %.3f bias %+.3f", source, fit.engineShare(source), own-len(held), e.N, e.MedianAPE, e.MAPE, e.Bias)
		if e.MedianAPE > most {
			t.Errorf("%s: median error %.3f on runs held out, above %.2f", source, e.MedianAPE, most)
		}
	}
}
