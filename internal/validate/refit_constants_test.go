package validate

import (
	"math"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Fit is what whole runs say about constants that no kernel table shows.
type Fit struct {
	Sustained map[string]hw.Sustained // by GPU generation; see Generic for the others
	// ExpertWait is the median of the runs' own, Quartiles theirs; see cost.Machine.
	ExpertWait unit.Seconds
	ExpertRows int
	Quartiles  [2]unit.Seconds
	Eager      map[string]float64 // an engine's share of the sustained rate, see eagerShares
	Attention  map[string]float64 // eager engine's share of the fused kernel's rate, by generation
}

// sustainedSources are engines of the Megatron family with fused kernels or with
// kernels that package work can list. bloom's kernels of 2021 and mosaic's eager
// ones are not among them.
var sustainedSources = []string{"dgxc", "mbridge", "nemo", "selrec", "simumax", "zb"}

// Refit fits the constants to runs, one after the other: the sustained shares to
// dense models, then the experts' wait to the others, the eager engines' shares and
// their attention to their own runs. Each is the median of the values with which single
// runs would be exact.
func Refit(runs []Run) (*Fit, error) {
	f := &Fit{Sustained: map[string]hw.Sustained{}, Eager: map[string]float64{}, Attention: map[string]float64{}}
	if err := f.sustained(runs); err != nil {
		return nil, err
	}
	if err := f.experts(runs); err != nil {
		return nil, err
	}
	for source := range eagerShares {
		if err := f.eager(runs, source); err != nil {
			return nil, err
		}
	}
	return f, f.attention(runs)
}

// Generic is the share of generations without runs: the median of the others'.
func (f *Fit) Generic() hw.Sustained {
	var all []float64
	for _, s := range f.Sustained {
		all = append(all, s.Share)
	}
	return hw.Sustained{Share: median(all), Assumed: true}
}

// exact is solveBy with the catalogue's models.
func exact(r *Run, at probe, set func(*cost.Options, float64)) (value float64, p *Prediction, err error) {
	s, p, err := solveBy(&Predictor{}, r, at, set)
	return s.value, p, err
}

// sustained fits 1/share, in which the step is linear.
func (f *Fit) sustained(runs []Run) error {
	type key struct{ arch, device string }
	shares, sources := map[key][]float64{}, map[key][]string{}
	for i := range runs {
		r := &runs[i]
		if !slices.Contains(sustainedSources, r.Source) {
			continue
		}
		inverse, p, err := exact(r, probe{1, 1.25}, func(o *cost.Options, v float64) { o.Sustained = 1 / v })
		if err != nil {
			return err
		}
		if p.MoE {
			continue
		}
		k := key{p.Arch, p.Device}
		shares[k] = append(shares[k], 1/inverse)
		if !slices.Contains(sources[k], r.Source) {
			sources[k] = append(sources[k], r.Source)
		}
	}
	for k, v := range shares {
		if len(v) < leastRows {
			continue
		}
		slices.Sort(v)
		s := f.Sustained[k.arch]
		slices.Sort(sources[k])
		s.Devices = append(s.Devices, hw.DeviceShare{Device: k.device, Share: median(v), Rows: len(v), Sources: sources[k],
			Quartiles: [2]float64{quantile(v, 0.25), quantile(v, 0.75)}})
		slices.SortFunc(s.Devices, func(a, b hw.DeviceShare) int { return strings.Compare(a.Device, b.Device) })
		f.Sustained[k.arch] = s
	}
	for arch, s := range f.Sustained {
		var all []float64
		for _, d := range s.Devices {
			all = append(all, d.Share)
		}
		s.Share = median(all)
		f.Sustained[arch] = s
	}
	return nil
}

// of is the fitted share of a run's device.
func (f *Fit) of(p *Prediction) float64 {
	s, ok := f.Sustained[p.Arch]
	if !ok {
		s = f.Generic()
	}
	return s.Of(p.Device)
}

// experts fits the wait of a layer with routed experts.
func (f *Fit) experts(runs []Run) error {
	var waits []float64
	for i := range runs {
		r := &runs[i]
		if !slices.Contains(sustainedSources, r.Source) || !r.inFits() {
			continue
		}
		var base Predictor
		p, err := base.Predict(r)
		if err != nil {
			return err
		}
		if !p.Waits {
			continue
		}
		w, _, err := exact(r, probe{1e-9, 1e-3}, func(o *cost.Options, v float64) {
			o.Sustained, o.ExpertWait = f.of(p), unit.Seconds(v)
		})
		if err != nil {
			return err
		}
		waits = append(waits, w)
	}
	slices.Sort(waits)
	f.ExpertWait, f.ExpertRows = unit.Seconds(median(waits)), len(waits)
	f.Quartiles = [2]unit.Seconds{unit.Seconds(quantile(waits, 0.25)), unit.Seconds(quantile(waits, 0.75))}
	return nil
}

// eager fits one engine's share of the sustained rates, in the inverse of which its steps
// are linear.
func (f *Fit) eager(runs []Run, source string) error {
	var shares []float64
	for i := range runs {
		r := &runs[i]
		if r.Source != source || r.Seq >= longSeq {
			continue
		}
		inverse, p, err := exact(r, probe{1, 1.25}, func(o *cost.Options, v float64) { o.Sustained = 1 / v })
		if err != nil {
			return err
		}
		shares = append(shares, 1/inverse/f.of(p))
	}
	if len(shares) > 0 {
		f.Eager[source] = median(shares)
	}
	return nil
}

// attention searches the share with which the eager engine's runs of long
// sequences have the smallest median of |ln(predicted/measured)|, to a hundredth.
func (f *Fit) attention(runs []Run) error {
	byArch := map[string][]*Run{}
	for i := range runs {
		if r := &runs[i]; r.Source == "mosaic" && r.Seq >= longSeq {
			var base Predictor
			p, err := base.Predict(r)
			if err != nil {
				return err
			}
			byArch[p.Arch] = append(byArch[p.Arch], r)
		}
	}
	for arch, list := range byArch {
		least := math.Inf(1)
		for share := 0.2; share <= 1; share += 0.01 {
			var errs []float64
			for _, r := range list {
				pr := Predictor{Options: cost.Options{Sustained: f.Sustained[arch].Share * f.Eager[r.Source], Attention: share}}
				p, err := pr.Predict(r)
				if err != nil {
					return err
				}
				errs = append(errs, math.Abs(math.Log(p.TokensPerSecondPerGPU()/r.TokensPerSecondPerGPU)))
			}
			if m := median(errs); m < least {
				least, f.Attention[arch] = m, share
			}
		}
	}
	return nil
}
