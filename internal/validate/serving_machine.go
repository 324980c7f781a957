package validate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
)

// MachineFit is an engine's profile fitted to whole runs on one machine.
type MachineFit struct {
	ProfileFit
	Start infer.Profile     // the engine's constants on the machine before the fit
	Kept  map[string]string // why constants stay as in Start, and which runs would settle them, by key
	Ends  []string          // constants that the fit left at an end of their range, by key
	Runs  []ServingRun
	// Before is the errors of TPOT with the constants of Start.
	Before Errors
	// Fitted and Held are the runs predicted with all of them in the fit, and with the
	// runs of their model, or a fifth of all where there is one model only, left out of
	// it; in the order of Runs.
	Fitted, Held []Scored
}

// Runs that a fit needs: three for each constant, of all and of the local ones.
var (
	leastForAll   = 3 * len(knobs)
	leastForLocal = 3 * len(local)
)

// folds is the parts of runs that are left out in turn: of those on a machine where there is one
// model, and of the published ones where they are cross-validated, see foldOf.
const folds = 5

// FitMachine fits the profile of every engine of the runs on the machine c, whose own
// figures price the kernels. Runs of other GPUs, in two roles or with speculation, and of
// engines with too few runs are in skipped with the reason.
// A run that stands there twice counts once. Runs that no fit explains are an error, and so is the end of ctx.
func FitMachine(ctx context.Context, runs []ServingRun, c *hw.Cluster, configs string) (fits []MachineFit, skipped []Skipped, err error) {
	runs, skipped = distinct(runs)
	p := &ServingPredictor{Configs: configs, clusters: map[string]*hw.Cluster{}, ctx: ctx}
	var rows []ServingRun
	for i := range runs {
		r := &runs[i]
		own, err := onMachineOr(c, r.GPU, r.GPUs)
		why := ""
		switch {
		case err != nil:
			why = oneLine(err)
		case r.Split != nil || r.speculates():
			why = "two roles and speculation are in no fit"
		default:
			p.clusters[clusterName(r.GPU, r.GPUs)] = own // the fit's, not the catalogue's
			if _, err := p.Predict(r); err != nil {
				why = oneLine(err)
			}
		}
		if why != "" {
			skipped = append(skipped, Skipped{r.ID, why})
			continue
		}
		rows = append(rows, *r)
	}
	if err := p.interrupted(); err != nil {
		return nil, nil, err
	}
	for _, engine := range valuesOf(rows, engineOfRun) {
		own := slices.DeleteFunc(slices.Clone(rows), func(r ServingRun) bool { return r.Engine != engine })
		if len(own) < leastForLocal {
			skipped = append(skipped, Skipped{engine, fmt.Sprintf("%d runs on %s: a fit needs at least %d", len(own), c.Device.Name, leastForLocal)})
			continue
		}
		f, err := fitMachine(own, c.Device, p)
		if err != nil {
			return nil, nil, err
		}
		fits = append(fits, *f)
	}
	return fits, skipped, nil
}

// settled are the knobs that the runs settle, and why the others stay: three runs are there
// for each, and some run feels it. start is the profile before the fit.
func settled(rows []ServingRun, start *infer.Profile, p *ServingPredictor) (list []knob, kept map[string]string) {
	kept = map[string]string{}
	for i, k := range knobs {
		switch {
		case len(rows) < leastForAll && i < len(knobs)-len(local):
			kept[k.key] = fmt.Sprintf("%d runs, of %d needed to settle it: add %s", len(rows), leastForAll, k.settles)
		case !felt(rows, start, &k, p):
			kept[k.key] = "no run depends on it: add " + k.settles
		default:
			list = append(list, k)
		}
	}
	return list, kept
}

// leastFelt is how far a knob must move some prediction between its ends, as a share of it.
const leastFelt = 1e-3

// felt tells whether a knob moves the prediction of any run.
func felt(rows []ServingRun, start *infer.Profile, k *knob, p *ServingPredictor) bool {
	at := func(v float64) []Scored {
		f := &ProfileFit{Profile: *start}
		k.set(&f.Profile, v)
		return f.scored(rows, p)
	}
	moved := func(a, b float64) bool { return math.Abs(a-b) > leastFelt*max(a, b) }
	low, high := at(k.low), at(k.high)
	for i := range min(len(low), len(high)) {
		a, b := &low[i], &high[i]
		if moved(a.Predicted, b.Predicted) || a.TTFTMeasured != nil && a.TTFTPredicted != nil && b.TTFTPredicted != nil && moved(*a.TTFTPredicted, *b.TTFTPredicted) {
			return true
		}
	}
	return false
}

func fitMachine(rows []ServingRun, d *hw.Device, p *ServingPredictor) (*MachineFit, error) {
	base, err := infer.ProfileOn(rows[0].Engine, d)
	if err != nil {
		return nil, err
	}
	start := *base
	start.Arch, start.Before = d.Arch, ""
	f := &MachineFit{Runs: rows, Start: start}
	var list []knob
	list, f.Kept = settled(rows, &start, p)
	f.ProfileFit = fitOne(rows, aboutMachine(rows, &start, list), p)
	if err := f.explained(rows, p); err != nil {
		return nil, err
	}
	was := ProfileFit{Profile: start}
	before := was.ratios(rows, p)
	f.Before = errorsOf(before.tpot)
	for _, k := range list {
		if v := k.of(&f.Profile); v <= k.low || v >= k.high {
			f.Ends = append(f.Ends, k.key)
		}
	}
	f.Fitted = f.scored(rows, p)
	part := modelOfRun
	if len(valuesOf(rows, modelOfRun)) < 2 {
		at := map[string]string{}
		for i := range rows {
			at[rows[i].ID] = strconv.Itoa(i % folds)
		}
		part = func(r *ServingRun) string { return at[r.ID] }
	}
	held := map[string]Scored{}
	for _, v := range valuesOf(rows, part) {
		out := slices.DeleteFunc(slices.Clone(rows), func(r ServingRun) bool { return part(&r) != v })
		rest := slices.DeleteFunc(slices.Clone(rows), func(r ServingRun) bool { return part(&r) == v })
		g := fitOne(rest, aboutMachine(rest, &start, list), p)
		for _, s := range g.scored(out, p) {
			held[s.ID] = s
		}
	}
	if err := p.interrupted(); err != nil {
		return nil, err
	}
	var t timeRatios
	for i := range rows {
		s := held[rows[i].ID]
		f.Held = append(f.Held, s)
		t.add(&s)
	}
	f.HeldTPOT, f.HeldTTFT = t.errors()
	return f, nil
}

// scored predicts runs that can be predicted with the fit's profile.
func (f *ProfileFit) scored(rows []ServingRun, p *ServingPredictor) []Scored {
	var out []Scored
	q := f.predictor(p)
	for i := range rows {
		if x, err := q.Predict(&rows[i]); err == nil {
			out = append(out, scoredServing(&rows[i], x))
		}
	}
	return out
}

// Constant is a fitted constant by its key in files of profiles and of machines.
type Constant struct {
	Key   string
	Value float64 // SI
}

// Constants are the fitted constants of a profile.
func Constants(p *infer.Profile) []Constant {
	return []Constant{{"step_us", float64(p.Step)}, {"sequence_us", float64(p.Sequence)}, {"prompt_us", float64(p.Prompt)}, {"request_token_us", float64(p.RequestToken)}, {"request_us", float64(p.Request)}, {"sustained_share", p.Sustained},
		{"launch_share", p.Launch}, {"quantise_share", p.Quantise}, {"arrival", p.Arrival}, {"admission_steps", p.Admission}}
}
