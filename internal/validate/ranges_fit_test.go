package validate

import (
	"math"
	"slices"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
)

// wider holds both ranges: knowing less never narrows one.
func wider(a, b infer.Range) infer.Range {
	return infer.Range{Low: min(a.Low, b.Low), High: max(a.High, b.High)}
}

// generalKernels stand in for a generation whose kernels nobody timed.
const generalKernels = "generic"

// FitRanges is where infer.RangeShare of measured values lie around predictions: with
// the profiles and kernels of their generation, and with the stand-ins that a
// generation without measurements gets.
func FitRanges(runs []ServingRun, p *ServingPredictor) ([]infer.Ranges, error) {
	bare, err := unmeasured(runs, p)
	if err != nil {
		return nil, err
	}
	known, other := residualsOf(runs, &ServingPredictor{Configs: p.Configs}).ranges(true), residualsOf(runs, bare).ranges(false)
	other.TPOT, other.TTFT = wider(other.TPOT, known.TPOT), wider(other.TTFT, known.TTFT)
	unknown, err := strangers(runs, p)
	if err != nil {
		return nil, err
	}
	engine := unknown.ranges(false)
	engine.Engine, engine.Source = infer.OtherEngine, publishedServing+" by what the other engines have on average"
	engine.TPOT, engine.TTFT = wider(engine.TPOT, other.TPOT), wider(engine.TTFT, other.TTFT)
	return []infer.Ranges{known, other, engine}, nil
}

// strangers are the residuals of each engine's runs predicted as those of an engine that nobody knows.
func strangers(runs []ServingRun, p *ServingPredictor) (*residuals, error) {
	releases := releasesOf(runs, p)
	held, err := leaveOut(releases, storedFits(releases), engineOfRun, p)
	if err != nil {
		return nil, err
	}
	r := &residuals{map[string][]float64{}, map[string][]float64{}}
	for i := range runs {
		if s, ok := held[runs[i].ID]; ok {
			r.add(&s)
		}
	}
	return r, nil
}

// storedFits are the profiles of package infer as the fits of releases.
func storedFits(releases []*release) [][]ProfileFit {
	fits := make([][]ProfileFit, len(releases))
	for i, e := range releases {
		for _, q := range infer.Profiles() {
			if q.Engine == e.engine && q.Before == e.before {
				fits[i] = append(fits[i], ProfileFit{Profile: q})
			}
		}
	}
	return fits
}

// unmeasured predicts as if of no GPU more than its datasheet were known.
func unmeasured(runs []ServingRun, p *ServingPredictor) (*ServingPredictor, error) {
	q := &ServingPredictor{Configs: p.Configs, clusters: map[string]*hw.Cluster{},
		Profile: func(engine, version, _ string) (*infer.Profile, error) {
			return infer.FindProfileOf(engine, version, "")
		}}
	for i := range runs {
		name := clusterName(runs[i].GPU, runs[i].GPUs)
		c, err := catalog.Cluster(name)
		if err != nil {
			return nil, err
		}
		c.Device.Kernels, c.Device.Achieved = catalog.Kernels(generalKernels), hw.Achieved{}
		q.clusters[name] = c
	}
	return q, nil
}

// residuals are ln(measured/predicted) by model.
type residuals struct{ tpot, ttft map[string][]float64 }

func residualsOf(runs []ServingRun, p *ServingPredictor) *residuals {
	r := &residuals{map[string][]float64{}, map[string][]float64{}}
	for i := range runs {
		x, err := p.Predict(&runs[i])
		if err != nil {
			continue
		}
		s := scoredServing(&runs[i], x)
		r.add(&s)
	}
	return r
}

func (r *residuals) add(s *Scored) {
	r.tpot[s.Model] = append(r.tpot[s.Model], -math.Log(s.Ratio()))
	if s.TTFTRange != nil {
		r.ttft[s.Model] = append(r.ttft[s.Model], math.Log(*s.TTFTMeasured / *s.TTFTPredicted))
	}
}

const publishedServing = "InferenceX, and lab runs collected in aiconfigurator (Apache-2.0), predicted by `validate serving`"

func (r *residuals) ranges(measured bool) infer.Ranges {
	out := infer.Ranges{Measured: measured, Source: publishedServing}
	if !measured {
		out.Source += " as if of their GPUs no more than the datasheet were known"
	}
	out.TPOT, out.HeldTPOT = widen(r.tpot)
	out.TTFT, out.HeldTTFT = widen(r.ttft)
	for _, v := range r.tpot {
		out.Rows += len(v)
	}
	return out
}

// widen finds the quantiles, as far out on both sides, that hold RangeShare of the
// values where each group is judged by the quantiles of the others, and states them
// of all groups together with the share held.
func widen(groups map[string][]float64) (best infer.Range, share float64) {
	const step = 0.0025
	off := math.Inf(1)
	var all []float64
	for _, v := range groups {
		all = append(all, v...)
	}
	slices.Sort(all)
	for tail := step; tail < (1-infer.RangeShare)*0.75; tail += step {
		held := heldOut(groups, tail)
		if d := math.Abs(held - infer.RangeShare); d < off {
			off, share = d, held
			best = infer.Range{Low: rounded(min(math.Exp(quantile(all, tail)), 1)), High: rounded(max(math.Exp(quantile(all, 1-tail)), 1))}
		}
	}
	return best, rounded(share)
}

// heldOut is the share of values between the quantiles, tail from each end, of the
// other groups.
func heldOut(groups map[string][]float64, tail float64) float64 {
	in, n := 0, 0
	for name, own := range groups {
		var others []float64
		for other, v := range groups {
			if other != name {
				others = append(others, v...)
			}
		}
		slices.Sort(others)
		low, high := quantile(others, tail), quantile(others, 1-tail)
		for _, v := range own {
			n++
			if low <= v && v <= high {
				in++
			}
		}
	}
	return float64(in) / float64(max(n, 1))
}

func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }
