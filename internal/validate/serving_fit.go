package validate

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// ProfileFit is an engine's profile fitted on whole runs.
type ProfileFit struct {
	Profile    infer.Profile // Arch "" = over all generations
	Rows       int
	Loss       float64 // see profileLoss
	TPOT, TTFT Errors  // of the rows it was fitted on
	// HeldTPOT and HeldTTFT are errors of rows predicted with constants that were
	// fitted without any row of their model; N = 0 where there is one model only.
	HeldTPOT, HeldTTFT Errors

	prices prices
}

// knob is one fitted constant of a profile: where the search starts and its bounds.
type knob struct {
	start, low, high float64 // start of the first search; the second starts from other
	other            float64
	of               func(*infer.Profile) float64
	set              func(*infer.Profile, float64)
}

const micro = 1e-6

// knobs are the constants that whole runs show and kernel tables do not. The bounds
// are what each can mean: a step takes its host up to 4 ms and each sequence of it up
// to 100 us; under lasting load clocks fall by at least a tenth (fact I9's prefill
// units); kernels hide some or none of their start; ranks of a node wait for each
// other up to as long again.
var knobs = []knob{
	{800 * micro, 0, 4e-3, 1.2e-3, func(p *infer.Profile) float64 { return float64(p.Step) }, func(p *infer.Profile, v float64) { p.Step = unit.Seconds(v) }},
	{5 * micro, 0, 100 * micro, 5 * micro, func(p *infer.Profile) float64 { return float64(p.Sequence) }, func(p *infer.Profile, v float64) { p.Sequence = unit.Seconds(v) }},
	{500 * micro, 0, 20e-3, 2e-3, func(p *infer.Profile) float64 { return float64(p.Prompt) }, func(p *infer.Profile, v float64) { p.Prompt = unit.Seconds(v) }},
	{0.85, 0.75, 0.9, 0.9, func(p *infer.Profile) float64 { return p.Sustained }, func(p *infer.Profile, v float64) { p.Sustained = v }},
	{0.7, 0, 1.2, 0.25, func(p *infer.Profile) float64 { return p.Launch }, func(p *infer.Profile, v float64) { p.Launch = v }},
	{0.5, 0, 1, 0.5, func(p *infer.Profile) float64 { return p.Quantise }, func(p *infer.Profile, v float64) { p.Quantise = v }},
	{1.5, 1, 2, 1.8, func(p *infer.Profile) float64 { return p.Arrival }, func(p *infer.Profile, v float64) { p.Arrival = v }},
	{6, 0, 60, 6, func(p *infer.Profile) float64 { return p.Admission }, func(p *infer.Profile, v float64) { p.Admission = v }},
}

// local are the knobs that a GPU generation has of its own: how kernels overlap and
// ranks wait, and admission, which operators choose: published recipes look at the
// queue, and stream, every few to every thirty steps. Host times are the engine's.
var local = knobs[len(knobs)-4:]

// Limits of what one row adds to the loss, so that runs which went wrong do not
// draw the constants, and the weight of TTFT, which differs more between equal runs.
const (
	mostTPOT   = 0.5
	mostTTFT   = 0.7
	weightTTFT = 0.2
)

// FitProfiles fits every engine of the runs, side by side: all constants over all
// generations, then the local ones of each generation on top.
func FitProfiles(runs []ServingRun, p *ServingPredictor) ([]ProfileFit, error) {
	engines := valuesOf(runs, engineOfRun)
	fits, errs := make([][]ProfileFit, len(engines)), make([]error, len(engines))
	var wg sync.WaitGroup
	for i, engine := range engines {
		wg.Go(func() { fits[i], errs[i] = fitEngine(engine, runs, &ServingPredictor{Configs: p.Configs}) })
	}
	wg.Wait()
	return slices.Concat(fits...), errors.Join(errs...)
}

func engineOfRun(r *ServingRun) string { return r.Engine }
func modelOfRun(r *ServingRun) string  { return r.Model }

// fitEngine fits one engine's profiles.
func fitEngine(engine string, runs []ServingRun, p *ServingPredictor) ([]ProfileFit, error) {
	base, err := infer.FindProfile(engine, "")
	if err != nil {
		return nil, err
	}
	rows, byArch := fittedRows(engine, runs, p)
	general := fitOne(rows, base, knobs, p)
	general.hold(rows, base, knobs, p)
	fits := []ProfileFit{general}
	for _, arch := range slices.Sorted(maps.Keys(byArch)) {
		own := general.Profile
		own.Arch = arch
		f := fitOne(byArch[arch], &own, local, p)
		f.hold(byArch[arch], &own, local, p)
		fits = append(fits, f)
	}
	return fits, nil
}

// fittedRows are an engine's runs that a fit uses, in all and by GPU generation. Two
// roles and speculation are left out, which are few.
func fittedRows(engine string, runs []ServingRun, p *ServingPredictor) (rows []ServingRun, byArch map[string][]ServingRun) {
	byArch = map[string][]ServingRun{}
	for i := range runs {
		r := &runs[i]
		if r.Engine != engine || r.Split != nil || r.speculates() {
			continue
		}
		if x, err := p.Predict(r); err == nil {
			rows = append(rows, *r)
			byArch[x.Arch] = append(byArch[x.Arch], *r)
		}
	}
	return rows, byArch
}

func valuesOf(runs []ServingRun, of func(*ServingRun) string) []string {
	var names []string
	for i := range runs {
		if n := of(&runs[i]); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// hold predicts each model with constants fitted without it.
func (f *ProfileFit) hold(rows []ServingRun, base *infer.Profile, list []knob, p *ServingPredictor) {
	var held timeRatios
	for _, t := range leaveOut(rows, modelOfRun, base, list, p) {
		held.tpot, held.ttft = append(held.tpot, t.tpot...), append(held.ttft, t.ttft...)
	}
	f.HeldTPOT, f.HeldTTFT = errorsOf(held.tpot), errorsOf(held.ttft)
}

// leaveOut predicts the rows of each value, for example of each model, with constants
// fitted on the others; values that are alone are left out.
func leaveOut(rows []ServingRun, of func(*ServingRun) string, base *infer.Profile, list []knob, p *ServingPredictor) map[string]timeRatios {
	out := map[string]timeRatios{}
	for _, v := range valuesOf(rows, of) {
		var own, rest []ServingRun
		for _, r := range rows {
			if of(&r) == v {
				own = append(own, r)
			} else {
				rest = append(rest, r)
			}
		}
		if len(rest) > 0 {
			g := fitOne(rest, base, list, p)
			out[v] = g.ratios(own, p)
		}
	}
	return out
}
