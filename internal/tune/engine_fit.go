package tune

import (
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// vectorFit searches, in this order: the host's time, as the engine states it; then
// for each rate of the attention core the rate of each format and number of rows with
// which its steps come out right on the geometric mean; of all core rates the one with
// the least spread around them. Steps that generate and prompts have cores of their own.
type vectorFit struct {
	machine *hw.Cluster
	engine  string
	source  string
	known   *hw.Device // the device before the fit
	// step and sequence are the host's time of every step, and of each sequence in it.
	step, sequence unit.Seconds
}

// rates is what a fit holds: FLOP/s.
type rates struct {
	rows           []hw.RowRate
	prompt, decode float64 // of the attention core
}

// host takes what decode steps spent outside the kernels as a time of every step and one of
// each sequence in it: the median slope between steps of different numbers, and the median
// of what it leaves, so that single disturbed steps move neither.
func (f *vectorFit) host(points []point) {
	type spent struct{ sequences, seconds float64 }
	var list []spent
	models := map[string]bool{}
	for i := range points {
		models[points[i].model.Name] = true
		if r := &points[i].result; r.HostSeconds > 0 && r.What == "decode" {
			list = append(list, spent{float64(r.Batch), r.HostSeconds})
		}
	}
	f.source = fmt.Sprintf("fitted on %d steps of %d models", len(points), len(models))
	if len(list) == 0 {
		return
	}
	var slopes, rest []float64
	for i, a := range list {
		for _, b := range list[:i] {
			if a.sequences != b.sequences {
				slopes = append(slopes, (a.seconds-b.seconds)/(a.sequences-b.sequences))
			}
		}
	}
	each := 0.0
	if len(slopes) > 0 {
		each = max(0, median(slopes))
	}
	for _, a := range list {
		rest = append(rest, a.seconds-each*a.sequences)
	}
	f.step, f.sequence = unit.Seconds(max(0, median(rest))), unit.Seconds(each)
}

// median is the middle value, of an even number the upper one.
func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// set writes rates into the machine.
func (f *vectorFit) set(r rates) {
	d := f.machine.Device
	*d = *f.known.Clone()
	k := *d.Kernels
	fitted := hw.Engine{Name: f.engine, Rows: r.rows, Core: r.decode, Host: hw.Host{Step: f.step, Sequence: f.sequence, Source: f.source}}
	k.Engines = slices.Clone(k.Engines)
	if i := slices.IndexFunc(k.Engines, func(e hw.Engine) bool { return e.Name == f.engine }); i >= 0 {
		fitted.Blocks = k.Engines[i].Blocks
		k.Engines[i] = fitted
	} else {
		k.Engines = append(k.Engines, fitted)
	}
	d.Kernels = &k
	figure := func(v float64) hw.Figure { return hw.Figure{Value: v, Grade: hw.Measured, Source: f.source} }
	most := map[unit.Format]hw.RowRate{}
	for _, x := range r.rows {
		if x.Rows > most[x.Format].Rows {
			most[x.Format] = x
		}
	}
	for format, x := range most {
		d.Achieved.Matrix[format] = figure(x.Rate)
	}
	d.Achieved.AttentionFwd = hw.Figure{}
	if r.prompt > 0 {
		d.Achieved.AttentionFwd = figure(r.prompt)
	}
	peaks(d)
}

// predict is the time of a point's step on the machine as it stands.
func (f *vectorFit) predict(p *point) (float64, error) {
	s := &infer.Setup{Model: p.model, Cluster: f.machine, Plan: plan.Serving{}, MaxBatchTokens: max(p.batch.Prefill, 512)}
	s.Weights, s.Experts, s.KV = infer.CheckpointFormats(p.model)
	var err error
	if s.Profile, err = infer.ProfileOn(f.engine, f.machine.Device); err != nil {
		return 0, err
	}
	e, err := infer.New(s)
	if err != nil {
		return 0, err
	}
	p.set = float64(e.WorkingSet())
	return float64(e.Step(&p.batch).Total), nil
}
