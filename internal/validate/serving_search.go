package validate

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// The pattern search steps by two standard deviations down to a twelfth of one.
const (
	rounds = 9
	widest = 2.0
	shrink = 0.7
)

// about is what a fit expects before it sees a run: constants near those of base, by
// their spread, and how many witnesses speak against that.
type about struct {
	base      infer.Profile
	list      []knob
	spread    func(*knob) float64
	witnesses float64
}

// generations is how far apart the generations of a release lie, of what releases do: 0.6, 0.4
// and 1.1 times as far in launch, quantise and arrival of vLLM and TensorRT-LLM, 0.1 in
// admission, fitted with the bounds alone.
const generations = 0.5

// between and within are the spread of releases and of a release's generations.
func between(k *knob) float64 { return k.spread }
func within(k *knob) float64  { return generations * k.spread }

// aboutMachine expects a machine's constants near those of its engine. What is asked of the
// fit is the same set-ups again, so that each run counts.
func aboutMachine(rows []ServingRun, base *infer.Profile, list []knob) *about {
	return &about{*base, list, between, float64(len(rows))}
}

// aboutOf expects constants of the list near base's. Runs of a set-up (model, GPU, format,
// layout) err together and are one witness.
func aboutOf(rows []ServingRun, base *infer.Profile, list []knob, spread func(*knob) float64) *about {
	setups := valuesOf(rows, func(r *ServingRun) string { return r.Model + " " + r.GPU + " " + r.Weights + " " + r.layout() })
	return &about{*base, list, spread, float64(len(setups))}
}

// fitOne sets the knobs to the smallest loss over the rows that a pattern search from what
// is expected finds.
func fitOne(rows []ServingRun, x *about, p *ServingPredictor) ProfileFit {
	f := ProfileFit{Profile: x.base, Rows: len(rows)}
	f.descend(rows, x, p)
	t := f.ratios(rows, p)
	f.TPOT, f.TTFT = t.errors()
	return f
}

// descend tries larger and smaller values of one knob after the other.
func (f *ProfileFit) descend(rows []ServingRun, x *about, p *ServingPredictor) {
	f.Loss = f.loss(rows, x, p)
	reach := widest
	for range rounds {
		for i := range x.list {
			k := &x.list[i]
			at, far := k.of(&f.Profile), reach*x.spread(k)
			if !f.try(k, x, min(at+far, k.high), rows, p) {
				f.try(k, x, max(at-far, k.low), rows, p)
			}
		}
		reach *= shrink
	}
}

// try keeps the knob's new value where it lowers the loss, and tells whether it does.
func (f *ProfileFit) try(k *knob, x *about, to float64, rows []ServingRun, p *ServingPredictor) bool {
	old := k.of(&f.Profile)
	if to == old {
		return false
	}
	k.set(&f.Profile, to)
	if l := f.loss(rows, x, p); l < f.Loss {
		f.Loss = l
		return true
	}
	k.set(&f.Profile, old)
	return false
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

// loss is how unlikely the rows make the constants. Errors are taken as Laplace's, of a
// width that the rows show; constants as normal about what is expected:
//
//	ln loss = ln mean |ln(predicted/measured)| + sum of ((constant - expected)/spread)^2 / (2 witnesses)
//
// The mean is of TPOT and, at less weight, of TTFT, each row's limited. So a release that
// few witnesses show stays near the others, and runs that a fit meets exactly draw it whole.
func (f *ProfileFit) loss(rows []ServingRun, x *about, p *ServingPredictor) float64 {
	t := f.ratios(rows, p)
	sum := 0.0
	for _, r := range t.tpot {
		sum += min(math.Abs(math.Log(r)), mostTPOT)
	}
	for _, r := range t.ttft {
		sum += weightTTFT * min(math.Abs(math.Log(r)), mostTTFT)
	}
	far := 0.0
	for i := range x.list {
		k := &x.list[i]
		d := (k.of(&f.Profile) - k.of(&x.base)) / x.spread(k)
		far += d * d
	}
	return sum / float64(len(rows)) * math.Exp(far/(2*x.witnesses))
}
