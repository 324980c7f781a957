package validate

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// The pattern search: factors of 1.5 down to 1.04, from two places. Host time and
// hidden starts nearly make up for each other, so that the second place, of longer
// host times, must be clearly better.
const (
	rounds  = 10
	shrink  = 0.75
	clearly = 0.97
)

// fitOne sets the knobs of a copy of base to the smallest loss over the rows that a
// pattern search finds.
func fitOne(rows []ServingRun, base *infer.Profile, list []knob, p *ServingPredictor) ProfileFit {
	best := ProfileFit{Loss: math.Inf(1)}
	for second := range 2 {
		f := ProfileFit{Profile: *base, Rows: len(rows)}
		for _, k := range list {
			k.set(&f.Profile, [...]float64{k.start, k.other}[second])
		}
		f.descend(rows, list, p)
		if f.Loss < clearly*best.Loss {
			best = f
		}
	}
	t := best.ratios(rows, p)
	best.TPOT, best.TTFT = errorsOf(t.tpot), errorsOf(t.ttft)
	return best
}

// descend tries larger and smaller values of one knob after the other.
func (f *ProfileFit) descend(rows []ServingRun, list []knob, p *ServingPredictor) {
	f.Loss = f.loss(rows, list, p)
	reach := 0.5
	for range rounds {
		for _, k := range list {
			at := k.of(&f.Profile)
			for _, to := range [...]float64{at * (1 + reach), at / (1 + reach), at + reach*k.start/10, 0} {
				f.try(&k, list, min(max(to, k.low), k.high), rows, p)
			}
		}
		reach *= shrink
	}
}

// try keeps the knob's new value where it lowers the loss.
func (f *ProfileFit) try(k *knob, list []knob, to float64, rows []ServingRun, p *ServingPredictor) {
	old := k.of(&f.Profile)
	if to == old {
		return
	}
	k.set(&f.Profile, to)
	if l := f.loss(rows, list, p); l < f.Loss {
		f.Loss = l
		return
	}
	k.set(&f.Profile, old)
}

// prices are engines whose kernels were priced with one set of constants.
type prices struct {
	profile                              *infer.Profile
	launch, quantise, arrival, sustained float64
	with                                 *ServingPredictor
}

// predictor predicts with the fit's profile as it is now. Host times are read from it
// with every step, so that engines priced before serve on until a constant that shapes
// kernels has changed.
func (f *ProfileFit) predictor(p *ServingPredictor) *ServingPredictor {
	x := &f.Profile
	now := prices{x, x.Launch, x.Quantise, x.Arrival, x.Sustained, f.prices.with}
	if f.prices != now || now.with == nil {
		now.with = &ServingPredictor{Configs: p.Configs, ctx: p.ctx, models: p.models, clusters: p.clusters,
			Profile: func(string, string, string) (*infer.Profile, error) { return x, nil }}
		f.prices = now
	}
	return now.with
}

// ratios predicts the rows with the profile.
func (f *ProfileFit) ratios(rows []ServingRun, p *ServingPredictor) (t timeRatios) {
	q := f.predictor(p)
	for i := range rows {
		x, err := q.Predict(&rows[i])
		if err != nil {
			continue
		}
		s := scoredServing(&rows[i], x)
		t.add(&s)
	}
	return t
}

// loss is the mean over rows of |ln(predicted/measured)|, limited, of TPOT and, at
// less weight, of TTFT, and what the constants' distance from their start costs.
func (f *ProfileFit) loss(rows []ServingRun, list []knob, p *ServingPredictor) float64 {
	t := f.ratios(rows, p)
	sum := 0.0
	for _, r := range t.tpot {
		sum += min(math.Abs(math.Log(r)), mostTPOT)
	}
	for _, r := range t.ttft {
		sum += weightTTFT * min(math.Abs(math.Log(r)), mostTTFT)
	}
	far := 0.0
	for _, k := range list {
		d := (k.of(&f.Profile) - k.start) / (k.high - k.low)
		far += d * d
	}
	return sum/float64(len(rows)) + prior*far
}
