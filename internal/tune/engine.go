package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// point is one measured step of an engine.
type point struct {
	model   *model.Model
	format  unit.Format // of the weights
	result  record.Result
	batch   infer.Batch
	rows    int64 // of its products
	seconds float64
	set     float64 // bytes of weights that steps read over and over, once it was predicted
}

// enough repeats of a step make its best time the truth, which others on the machine,
// who take memory bandwidth away, can only lengthen; of fewer the median is.
const enough = 8

// slowest is the rate from which searches start, FLOP/s: an emulated processor's.
const slowest = 1e7

// plausible refuses a fit that is off by more than a factor of two in the middle: rates cannot
// be that wrong, so the steps are of another model, format or machine.
func plausible(list []Residual) error {
	var off []float64
	for i := range list {
		off = append(off, list[i].Fitted/list[i].Measured)
	}
	slices.Sort(off)
	if mid := off[len(off)/2]; mid > 2 || mid < 0.5 {
		return fmt.Errorf("the best fit takes %.3g times as long as the steps of %s: name the model, the machine and the threads that were measured", mid, list[0].Model)
	}
	return nil
}

// engine fits what an engine's kernels and host do on this machine.
func (o *Outcome) engine(in *Input) error {
	points, err := o.points(in)
	if err != nil {
		return err
	}
	d := o.Machine.Device
	if d.Kernels == nil || !d.Kernels.Vector {
		return fmt.Errorf("%s: --run calibrates the rates of CPUs; on a GPU give runs of bench with --bench, a table with --serving-runs, or kernel tables with --tables", d.Name)
	}
	profile, err := infer.ProfileOn(in.Engine, d)
	if err != nil {
		return err
	}
	before := struct {
		matrix       [unit.NumFormats]hw.Figure
		prompt       hw.Figure
		decode, step float64
	}{matrix: d.Achieved.Matrix, prompt: d.Achieved.AttentionFwd, step: float64(profile.Step)}
	if i := slices.IndexFunc(d.Kernels.Engines, func(e hw.Engine) bool { return e.Name == profile.Engine }); i >= 0 {
		before.decode = d.Kernels.Engines[i].Core
	}
	f := &vectorFit{machine: o.Machine, engine: profile.Engine, known: d.Clone()}
	f.host(points)
	fitted, err := f.search(points)
	if err != nil {
		return err
	}
	if o.Residuals, err = f.residuals(points, fitted); err != nil {
		return err
	}
	if err := plausible(o.Residuals); err != nil {
		return err
	}
	o.cached(d, points)
	for _, h := range []unit.Format{unit.FP16, unit.Q8_0, unit.Q4_0} {
		if v := d.Achieved.Matrix[h]; v.Known() && v.Source == f.source {
			o.change("achieved."+h.String()+"_tflops", before.matrix[h], v.Value, v.Source)
		}
	}
	own := func(v float64) hw.Figure { return hw.Figure{Value: v, Grade: hw.Measured} }
	for _, c := range []struct {
		key    string
		before hw.Figure
		after  float64
	}{{"achieved.attention_fwd_tflops", before.prompt, fitted.prompt}, {"engines." + f.engine + ".decode_core_gflops", own(before.decode), fitted.decode},
		{"engines." + f.engine + ".step_us", own(before.step), float64(f.step)}} {
		if c.after > 0 {
			o.change(c.key, c.before, c.after, f.source)
		}
	}
	return nil
}

// points are the serving steps of all runs.
func (o *Outcome) points(in *Input) ([]point, error) {
	var list []point
	for _, run := range in.Runs {
		before := len(list)
		for i := range run.Record.Results {
			r := &run.Record.Results[i]
			if r.Kind != record.Serving || r.Batch < 1 {
				o.unused(run.Record, r, "no step of an engine")
				continue
			}
			if t := max(in.Threads, 1); r.Threads > 0 && r.Threads != t {
				o.unused(run.Record, r, fmt.Sprintf("of %d threads, the machine's figures are of %d", r.Threads, t))
				continue
			}
			list = append(list, newPoint(run.Model, r))
		}
		if len(list) == before {
			return nil, fmt.Errorf("%s: no step of an engine in it: give llama-bench's output, bench's JSON, or /steps of engine/llamacpp", run.Record.Source)
		}
	}
	return list, nil
}

func newPoint(m *model.Model, r *record.Result) point {
	weights, _, _ := infer.CheckpointFormats(m)
	p := point{model: m, format: weights, result: *r, seconds: r.Value}
	if r.Repeats >= enough && r.Best > 0 {
		p.seconds = r.Best
	}
	if r.What == "prefill" {
		each := float64(r.Tokens) / float64(r.Batch)
		p.rows = min(r.Tokens, promptRows)
		p.batch = infer.Batch{Prefill: r.Tokens, Prompts: r.Batch, PrefillPairs: float64(r.Batch) * each * (float64(r.Context) + each/2)}
		return p
	}
	p.rows = int64(r.Batch)
	p.batch = infer.Batch{Decode: r.Batch, DecodeContext: int64(r.Batch) * r.Context}
	return p
}

// vectorFit searches, in this order: the host's time, as the engine states it; then
// for each rate of the attention core the rate of each format and number of rows with
// which its steps come out right on the geometric mean; of all core rates the one with
// the least spread around them. Steps that generate and prompts have cores of their own.
type vectorFit struct {
	machine *hw.Cluster
	engine  string
	source  string
	step    unit.Seconds
	known   *hw.Device // the device before the fit
}

// rates is what a fit holds: FLOP/s.
type rates struct {
	rows           []hw.RowRate
	prompt, decode float64 // of the attention core
}

// promptRows stands for all prompts: from so many rows on a product's rate is taken
// as constant. llama.cpp's kernels work on blocks of at most 16 rows.
const promptRows = 64

// host takes the median of what decode steps spent outside the kernels.
func (f *vectorFit) host(points []point) {
	var spent []float64
	models := map[string]bool{}
	for i := range points {
		models[points[i].model.Name] = true
		if h := points[i].result.HostSeconds; h > 0 && points[i].result.What == "decode" {
			spent = append(spent, h)
		}
	}
	slices.Sort(spent)
	if len(spent) > 0 {
		f.step = unit.Seconds(spent[len(spent)/2])
	}
	f.source = fmt.Sprintf("fitted on %d steps of %d models", len(points), len(models))
}

// set writes rates into the machine.
func (f *vectorFit) set(r rates) {
	d := f.machine.Device
	*d = *f.known.Clone()
	k := *d.Kernels
	k.Engines = slices.DeleteFunc(slices.Clone(k.Engines), func(e hw.Engine) bool { return e.Name == f.engine })
	k.Engines = append(k.Engines, hw.Engine{Name: f.engine, Rows: r.rows, Core: r.decode, Host: hw.Host{Step: f.step, Source: f.source}})
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

// group is the points of one format and number of rows.
type group struct {
	format unit.Format
	rows   int64
	points []*point
}

// groups are those of prompts, or of generated tokens, by format and rows.
func groups(points []point, prompts bool) []group {
	var list []group
	for i := range points {
		p := &points[i]
		if (p.batch.Prefill > 0) != prompts {
			continue
		}
		at := slices.IndexFunc(list, func(g group) bool { return g.format == p.format && g.rows == p.rows })
		if at < 0 {
			at, list = len(list), append(list, group{format: p.format, rows: p.rows})
		}
		list[at].points = append(list[at].points, p)
	}
	slices.SortFunc(list, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.format, b.format), cmp.Compare(a.rows, b.rows))
	})
	return list
}

// search sets the fitted machine and gives its rates.
func (f *vectorFit) search(points []point) (rates, error) {
	decodes, err := f.best(groups(points, false), nil, func(core float64) rates { return rates{decode: core} })
	if err != nil {
		return rates{}, err
	}
	prompts, err := f.best(groups(points, true), decodes.rows, func(core float64) rates { return rates{prompt: core} })
	if err != nil {
		return rates{}, err
	}
	all := rates{rows: append(decodes.rows, prompts.rows...), prompt: prompts.prompt, decode: decodes.decode}
	f.set(all)
	return all, nil
}

// best is the rates with the least spread; with is those of a core's rate alone. Groups
// come by rising rows and build on the rates of fewer rows, known ones and those before:
// an expert has fewer rows than the step.
func (f *vectorFit) best(list []group, known []hw.RowRate, with func(core float64) rates) (rates, error) {
	var kept rates
	if len(list) == 0 {
		return kept, nil
	}
	top := f.known.Achieved.Matrix[unit.FP32].Value
	if top == 0 {
		top = f.known.MatrixRate(unit.FP16).Value
	}
	least := math.Inf(1)
	for share := 1.0; share > 0.01; share /= 1.1 {
		loss := 0.0
		now := with(top * share)
		for i := range list {
			core := with(top * share)
			core.rows = slices.Concat(known, now.rows)
			rate, spread, err := f.rate(&list[i], core)
			if err != nil {
				return kept, err
			}
			loss += spread
			now.rows = append(now.rows, rate)
		}
		if loss < least-1e-6 {
			least, kept = loss, now
		}
	}
	return kept, nil
}

// rate is the one at which a group's products run beside the rates of core, by bisection,
// and the sum of squared logarithms of predicted over measured that it leaves.
func (f *vectorFit) rate(g *group, core rates) (hw.RowRate, float64, error) {
	core.rows = append(slices.Clone(core.rows), hw.RowRate{Format: g.format, Rows: g.rows})
	own := &core.rows[len(core.rows)-1]
	low, high := math.Log(slowest), math.Log(f.ceiling(g))
	for range 30 {
		mid := (low + high) / 2
		own.Rate = math.Exp(mid)
		mean, _, err := f.bias(g, core)
		switch {
		case err != nil:
			return hw.RowRate{}, 0, err
		case mean > 0: // too slow
			low = mid
		default:
			high = mid
		}
	}
	_, spread, err := f.bias(g, core)
	return *own, spread, err
}

// ceiling bounds a group's rate: at it products take a hundredth of the group's fastest
// step, so that they hide behind reading the weights, as those of one row may.
func (f *vectorFit) ceiling(g *group) float64 {
	most := 0.0
	for _, p := range g.points {
		most = max(most, 2*float64(p.model.ActiveParams())*float64(max(p.rows, p.batch.Prefill))/p.seconds)
	}
	return 100 * most
}

// bias is the mean of ln(predicted/measured) over a group, and the sum of its squares.
func (f *vectorFit) bias(g *group, r rates) (mean, squares float64, err error) {
	f.set(r)
	for _, p := range g.points {
		v, err := f.predict(p)
		if err != nil {
			return 0, 0, err
		}
		x := math.Log(v / p.seconds)
		mean += x / float64(len(g.points))
		squares += x * x
	}
	return mean, squares, nil
}

// residuals are the points beside the fit, and beside what the other points of their
// format give.
func (f *vectorFit) residuals(points []point, all rates) ([]Residual, error) {
	var out []Residual
	for i := range points {
		p := &points[i]
		r, err := p.residual(), error(nil)
		if r.Fitted, err = f.predict(p); err != nil {
			return nil, err
		}
		rest := all
		rest.rows = slices.DeleteFunc(slices.Clone(all.rows), func(x hw.RowRate) bool { return x.Format == p.format && x.Rows == p.rows })
		if slices.ContainsFunc(rest.rows, func(x hw.RowRate) bool {
			return x.Format == p.format && (x.Rows >= promptRows) == (p.rows >= promptRows)
		}) {
			f.set(rest)
			if r.HeldOut, err = f.predict(p); err != nil {
				return nil, err
			}
			f.set(all)
		}
		out = append(out, r)
	}
	return out, nil
}

// Predict gives the steps of a run on a machine beside what was measured, nothing
// fitted to them.
func Predict(machine *hw.Cluster, engine string, run Run) ([]Residual, error) {
	profile, err := infer.ProfileOn(engine, machine.Device)
	if err != nil {
		return nil, err
	}
	f := &vectorFit{machine: machine, engine: profile.Engine}
	o := &Outcome{Machine: machine}
	points, err := o.points(&Input{Runs: []Run{run}})
	if err != nil {
		return nil, err
	}
	var out []Residual
	for i := range points {
		p := &points[i]
		r := p.residual()
		if r.Fitted, err = f.predict(p); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (p *point) residual() Residual {
	return Residual{Model: p.model.Name, What: p.result.What, Format: p.format.String(), Batch: p.result.Batch, Tokens: p.result.Tokens, Context: p.result.Context, Measured: p.seconds}
}
