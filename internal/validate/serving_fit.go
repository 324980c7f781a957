package validate

import (
	"context"
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

// knob is one fitted constant of a profile: its key, the runs that settle it, where engines
// lie and its bounds.
type knob struct {
	key, settles string
	usual        float64 // of the releases that were fitted
	spread       float64 // their standard deviation about it
	low, high    float64
	of           func(*infer.Profile) float64
	set          func(*infer.Profile, float64)
}

// operators tells that who runs the engine sets the constant, not the engine.
func (k *knob) operators() bool { return k.key == "admission_steps" }

const micro = 1e-6

// knobs are the constants that whole runs show and kernel tables do not. The bounds
// are what each can mean: a step takes its host up to 4 ms and each sequence of it up
// to 100 us; under lasting load clocks fall by at least a tenth (fact I9's prefill
// units); kernels hide some or none of their start; ranks of a node wait for each
// other up to as long again; who comes waits for the step that is planned while another runs, at
// least; tokenisers read at least 100,000 tokens per second; a request is
// through HTTP, the processes before the scheduler and back to its client in a fifth of a second.
// What is usual, and the spread about it, are mean and deviation of five releases (two of
// SGLang and of TensorRT-LLM, one of vLLM) fitted with the bounds alone, but of step_us and
// admission_steps. All three engines plan a step while the one before runs, so that none of
// its host's time is usual; the releases lie 900 us from that. Operators choose admission:
// its spread is that of even odds over the bounds. Those of request_us are of such fits with it, of
// 7 (vLLM) to 115 ms (SGLang); the others' moved within their spread.
var knobs = []knob{
	{"step_us", "runs of small models at few users", 0, 900 * micro, 0, 4e-3, func(p *infer.Profile) float64 { return float64(p.Step) }, func(p *infer.Profile, v float64) { p.Step = unit.Seconds(v) }},
	{"sequence_us", "runs of small models at 64 users and more", 8.6 * micro, 8.4 * micro, 0, 100 * micro, func(p *infer.Profile) float64 { return float64(p.Sequence) }, func(p *infer.Profile, v float64) { p.Sequence = unit.Seconds(v) }},
	{"prompt_us", "TTFT of short prompts at one user", 770 * micro, 720 * micro, 0, 20e-3, func(p *infer.Profile) float64 { return float64(p.Prompt) }, func(p *infer.Profile, v float64) { p.Prompt = unit.Seconds(v) }},
	{"sustained_share", "runs of large models at many users", 0.875, 0.025, 0.75, 0.9, func(p *infer.Profile) float64 { return p.Sustained }, func(p *infer.Profile, v float64) { p.Sustained = v }},
	{"request_token_us", "TTFT of long prompts at one user", 3 * micro, 0.7 * micro, 0, 10 * micro, func(p *infer.Profile) float64 { return float64(p.RequestToken) }, func(p *infer.Profile, v float64) { p.RequestToken = unit.Seconds(v) }},
	{"request_us", "TTFT of short prompts at few users", 52000 * micro, 44000 * micro, 0, 200e-3, func(p *infer.Profile) float64 { return float64(p.Request) }, func(p *infer.Profile, v float64) { p.Request = unit.Seconds(v) }},
	{"launch_share", "runs of small models at few users, or on several GPUs", 0.69, 0.26, 0, 1.2, func(p *infer.Profile) float64 { return p.Launch }, func(p *infer.Profile, v float64) { p.Launch = v }},
	{"quantise_share", "runs with weights in FP8 or fewer bits", 0.49, 0.24, 0, 1, func(p *infer.Profile) float64 { return p.Quantise }, func(p *infer.Profile, v float64) { p.Quantise = v }},
	{"arrival", "runs on several GPUs", 1.54, 0.15, 1, 2, func(p *infer.Profile) float64 { return p.Arrival }, func(p *infer.Profile, v float64) { p.Arrival = v }},
	{"admission_steps", "TTFT at two users and more", 10, 17, 1, 60, func(p *infer.Profile) float64 { return p.Admission }, func(p *infer.Profile, v float64) { p.Admission = v }},
}

// local are the knobs that a GPU generation has of its own: how kernels overlap and
// ranks wait, and admission, which operators choose: published recipes look at the
// queue, and stream, every few to every thirty steps. Host times are the engine's.
var local = knobs[len(knobs)-4:]

// Limits of what one row adds to the loss, so that runs which went wrong, or whose first
// tokens waited for something that their table does not say, do not draw the constants;
// and the weight of TTFT, which differs more between equal runs.
const (
	mostTPOT   = 0.5
	mostTTFT   = 0.35
	weightTTFT = 0.3
)

// release is the runs of those versions of an engine that share profiles.
type release struct {
	engine, before string // see infer.Profile.Before
	rows           []ServingRun
	byArch         map[string][]ServingRun
}

// releasesOf sorts the runs that a fit uses by the releases which the stored profiles
// tell apart. Two roles and speculation are left out, which are few, and runs that
// cannot be predicted.
func releasesOf(runs []ServingRun, p *ServingPredictor) []*release {
	var list []*release
	for i := range runs {
		r := &runs[i]
		if r.Split != nil || r.speculates() {
			continue
		}
		x, err := p.Predict(r)
		if err != nil {
			continue
		}
		q, err := infer.FindProfileOf(r.Engine, r.Version, x.Arch)
		if err != nil {
			continue
		}
		at := slices.IndexFunc(list, func(e *release) bool { return e.engine == r.Engine && e.before == q.Before })
		if at < 0 {
			at = len(list)
			list = append(list, &release{engine: r.Engine, before: q.Before, byArch: map[string][]ServingRun{}})
		}
		list[at].rows = append(list[at].rows, *r)
		list[at].byArch[x.Arch] = append(list[at].byArch[x.Arch], *r)
	}
	return list
}

// of are the runs on a generation, "" = on all.
func (e *release) of(arch string) []ServingRun {
	if arch == "" {
		return e.rows
	}
	return e.byArch[arch]
}

// without is the release without the runs that have the value.
func (e *release) without(of func(*ServingRun) string, value string) *release {
	out := &release{engine: e.engine, before: e.before, byArch: map[string][]ServingRun{}}
	other := func(rows []ServingRun) []ServingRun {
		return slices.DeleteFunc(slices.Clone(rows), func(r ServingRun) bool { return of(&r) == value })
	}
	out.rows = other(e.rows)
	for arch, rows := range e.byArch {
		if rest := other(rows); len(rest) > 0 {
			out.byArch[arch] = rest
		}
	}
	return out
}

// usual is an engine's profile with the constants of the mean release.
func usual(base *infer.Profile) *infer.Profile {
	p := *base
	p.Arch = ""
	for _, k := range knobs {
		k.set(&p, k.usual)
	}
	return &p
}

// unseen is what is expected of an engine's release of which no run is known: the constants of the
// mean release, and what operators set left at its least. Releases whose operators let requests
// wait longer, ten to twenty times the others, would make it a mean that none of them has.
func unseen(base *infer.Profile) *infer.Profile {
	p := usual(base)
	for _, k := range knobs {
		if k.operators() {
			k.set(p, k.low)
		}
	}
	return p
}

// fit fits a release: all constants over all generations, then the local ones of each
// generation on top, where there are several.
func (e *release) fit(p *ServingPredictor) ([]ProfileFit, error) {
	if len(e.rows) == 0 {
		return nil, nil
	}
	base, err := infer.FindProfile(e.engine, "")
	if err != nil {
		return nil, err
	}
	start := usual(base)
	start.Before = e.before
	general := fitOne(e.rows, aboutOf(e.rows, start, knobs, between), p)
	fits := []ProfileFit{general}
	if e.before != "" && len(e.byArch) < 2 {
		return fits, nil
	}
	for _, arch := range slices.Sorted(maps.Keys(e.byArch)) {
		if len(e.byArch[arch]) < leastForLocal {
			continue // constants that a few runs carry are not the generation's
		}
		own := general.Profile
		own.Arch = arch
		fits = append(fits, fitOne(e.byArch[arch], aboutOf(e.byArch[arch], &own, local, within), p))
	}
	return fits, nil
}

// FitProfiles fits every engine of the runs, and predicts each model with profiles that
// were fitted without it.
// Runs that stand there twice count once, and twice says which. Runs that no fit explains are
// an error, and so is the end of ctx.
func FitProfiles(ctx context.Context, runs []ServingRun, configs string) (out []ProfileFit, twice []Skipped, err error) {
	p := &ServingPredictor{Configs: configs, ctx: ctx}
	runs, twice = distinct(runs)
	releases := releasesOf(runs, p.anew())
	if err := p.interrupted(); err != nil {
		return nil, nil, err
	}
	fits, err := fitAll(releases, p)
	if err != nil {
		return nil, nil, err
	}
	for i, e := range releases {
		for k := range fits[i] {
			if err := fits[i][k].explained(e.of(fits[i][k].Profile.Arch), p); err != nil {
				return nil, nil, err
			}
		}
	}
	held, err := leaveOut(releases, fits, modelOfRun, p)
	if err != nil {
		return nil, nil, err
	}
	for i, e := range releases {
		for _, f := range fits[i] {
			var t timeRatios
			for _, r := range e.of(f.Profile.Arch) {
				if s, ok := held[r.ID]; ok {
					t.add(&s)
				}
			}
			f.HeldTPOT, f.HeldTTFT = t.errors()
			out = append(out, f)
		}
	}
	return out, twice, nil
}

// fitAll fits releases side by side.
func fitAll(releases []*release, p *ServingPredictor) ([][]ProfileFit, error) {
	fits, errs := make([][]ProfileFit, len(releases)), make([]error, len(releases))
	var wg sync.WaitGroup
	for i, e := range releases {
		wg.Go(func() { fits[i], errs[i] = e.fit(p.anew()) })
	}
	wg.Wait()
	return fits, errors.Join(errs...)
}
