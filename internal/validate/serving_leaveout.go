package validate

import (
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// engineOfRun and modelOfRun are values by which runs are left out.
func engineOfRun(r *ServingRun) string { return r.Engine }

// modelOfRun is the run's model.
func modelOfRun(r *ServingRun) string { return r.Model }

// leaveOut predicts the runs of each value, for example of each model, with profiles
// that were fitted without any of them, as a user's run would be predicted: by the
// generation's own constants where other runs gave some, else by the engine's general
// ones. fits are those of the releases with all runs. Runs of engines that have no other
// value are left out. The result is by id of the run.
func leaveOut(releases []*release, fits [][]ProfileFit, of func(*ServingRun) string, p *ServingPredictor) (map[string]Scored, error) {
	var all []ServingRun
	for _, e := range releases {
		all = append(all, e.rows...)
	}
	out := map[string]Scored{}
	var mu sync.Mutex
	var errs []error
	var wg sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, engine := range valuesOf(all, engineOfRun) {
		for _, v := range valuesOf(all, of) {
			wg.Go(func() {
				room <- struct{}{}
				defer func() { <-room }()
				held, err := leaveOne(engine, releases, fits, of, v, p)
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
				for _, s := range held {
					out[s.ID] = s
				}
			})
		}
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

// leaveOne predicts an engine's runs of one value with profiles fitted on the others.
func leaveOne(engine string, releases []*release, fits [][]ProfileFit, of func(*ServingRun) string, v string, p *ServingPredictor) ([]Scored, error) {
	if engine == v { // all of the engine
		return leaveEngine(engine, releases, fits, p)
	}
	var list []infer.Profile
	var own []ServingRun
	for i, e := range releases {
		if e.engine != engine {
			continue
		}
		known := fits[i]
		if rest := e.without(of, v); len(rest.rows) < len(e.rows) {
			var err error
			if known, err = rest.fitOrUnseen(p.anew()); err != nil {
				return nil, err
			}
		}
		for _, f := range known {
			list = append(list, f.Profile)
		}
		for _, r := range e.rows {
			if of(&r) == v {
				own = append(own, r)
			}
		}
	}
	if len(list) == 0 || len(own) == 0 {
		return nil, nil
	}
	return predictWith(own, func(engine, version, arch string) (*infer.Profile, error) {
		if x := infer.PickProfile(list, engine, version, arch); x != nil {
			return x, nil
		}
		return &list[0], nil // the runs are of old releases alone
	}, p)
}

// leaveEngine predicts an engine's runs as those of an engine that nobody knows: with the mean of
// the other engines' releases, what operators set at its least (see unseen), and kernels of another engine.
// Those releases were drawn to a mean that holds the engine's own, a little.
func leaveEngine(engine string, releases []*release, fits [][]ProfileFit, p *ServingPredictor) ([]Scored, error) {
	mean, err := infer.FindProfile(infer.OtherEngine, "")
	if err != nil {
		return nil, err
	}
	x := *mean
	if engine == kernelsOfOthers {
		x.Engine = kernelsInstead
	}
	for _, k := range knobs {
		if k.operators() {
			k.set(&x, k.low)
			continue
		}
		sum, n := 0.0, 0
		for i, e := range releases {
			if e.engine != engine && len(fits[i]) > 0 {
				sum, n = sum+k.of(&fits[i][0].Profile), n+1
			}
		}
		k.set(&x, sum/float64(max(n, 1)))
	}
	var own []ServingRun
	for _, e := range releases {
		if e.engine == engine {
			own = append(own, e.rows...)
		}
	}
	return predictWith(own, func(string, string, string) (*infer.Profile, error) { return &x, nil }, p)
}

// An engine without kernels of its own takes those of the first that a GPU's generation has; where
// that one is left out, those of another.
const (
	kernelsOfOthers = "vllm"
	kernelsInstead  = "trtllm"
)

// predictWith predicts runs with profiles in place of the stored ones.
func predictWith(own []ServingRun, profile func(engine, version, arch string) (*infer.Profile, error), p *ServingPredictor) ([]Scored, error) {
	q := p.anew()
	q.Profile = profile
	var out []Scored
	for i := range own {
		x, err := q.Predict(&own[i])
		if err != nil {
			continue
		}
		out = append(out, scoredServing(&own[i], x))
	}
	return out, p.interrupted()
}

// fitOrUnseen is fit, and of a release without runs what is expected of one.
func (e *release) fitOrUnseen(p *ServingPredictor) ([]ProfileFit, error) {
	if len(e.rows) > 0 {
		return e.fit(p)
	}
	base, err := infer.FindProfile(e.engine, "")
	if err != nil {
		return nil, err
	}
	x := unseen(base)
	x.Before = e.before
	return []ProfileFit{{Profile: *x}}, nil
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
