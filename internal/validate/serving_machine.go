package validate

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
)

// MachineFit is an engine's profile fitted to whole runs on one machine.
type MachineFit struct {
	ProfileFit
	Local bool // only the constants that a GPU generation has of its own; the rest is the engine's
	Runs  []ServingRun
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

// folds is the parts of the runs that are left out in turn where there is one model.
const folds = 5

// FitMachine fits the profile of every engine of the runs on the machine c, whose own
// figures price the kernels. Runs of other GPUs, in two roles or with speculation, and of
// engines with too few runs are in skipped with the reason.
func FitMachine(runs []ServingRun, c *hw.Cluster, configs string) (fits []MachineFit, skipped []Skipped, err error) {
	p := onMachine(runs, c, configs)
	var rows []ServingRun
	for i := range runs {
		r := &runs[i]
		d, err := catalog.Device(r.GPU)
		why := ""
		switch {
		case err != nil:
			why = oneLine(err)
		case d.Name != c.Device.Name:
			why = fmt.Sprintf("of %s: the machine's GPU is %s", d.Name, c.Device.Name)
		case r.Split != nil || r.speculates():
			why = "two roles and speculation are in no fit"
		default:
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
	for _, engine := range valuesOf(rows, engineOfRun) {
		own := slices.DeleteFunc(slices.Clone(rows), func(r ServingRun) bool { return r.Engine != engine })
		if len(own) < leastForLocal {
			skipped = append(skipped, Skipped{engine, fmt.Sprintf("%d runs on %s: a fit needs at least %d", len(own), c.Device.Name, leastForLocal)})
			continue
		}
		f, err := fitMachine(own, c.Device.Arch, p)
		if err != nil {
			return nil, nil, err
		}
		fits = append(fits, *f)
	}
	return fits, skipped, nil
}

// onMachine predicts the runs on the machine instead of the catalogue's.
func onMachine(runs []ServingRun, c *hw.Cluster, configs string) *ServingPredictor {
	p := &ServingPredictor{Configs: configs, clusters: map[string]*hw.Cluster{}}
	for i := range runs {
		d, err := catalog.Device(runs[i].GPU)
		if err != nil || d.Name != c.Device.Name {
			continue
		}
		own := c.Clone()
		own.GPUs = int64(runs[i].GPUs)
		p.clusters[clusterName(runs[i].GPU, runs[i].GPUs)] = own
	}
	return p
}

func fitMachine(rows []ServingRun, arch string, p *ServingPredictor) (*MachineFit, error) {
	base, err := infer.FindProfile(rows[0].Engine, arch)
	if err != nil {
		return nil, err
	}
	start := *base
	start.Arch, start.Before = arch, ""
	list := knobs
	f := &MachineFit{Runs: rows}
	if len(rows) < leastForAll {
		list, f.Local = local, true
	}
	f.ProfileFit = fitOne(rows, &start, list, p)
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
		g := fitOne(rest, &start, list, p)
		for _, s := range g.scored(out, p) {
			held[s.ID] = s
		}
	}
	var t timeRatios
	for i := range rows {
		s := held[rows[i].ID]
		f.Held = append(f.Held, s)
		t.add(&s)
	}
	f.HeldTPOT, f.HeldTTFT = errorsOf(t.tpot), errorsOf(t.ttft)
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
	return []Constant{{"step_us", float64(p.Step)}, {"sequence_us", float64(p.Sequence)}, {"prompt_us", float64(p.Prompt)}, {"request_token_us", float64(p.RequestToken)}, {"sustained_share", p.Sustained},
		{"launch_share", p.Launch}, {"quantise_share", p.Quantise}, {"arrival", p.Arrival}, {"admission_steps", p.Admission}}
}
