package validate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/plan"
)

// Document is the answer of a validation (interfaces.md, `validate`). Metrics are
// by name: tokens_per_second_per_gpu, and memory where runs state it.
type Document struct {
	Rows    int               `json:"rows"`
	Scored  int               `json:"scored"`
	Skipped []Skipped         `json:"skipped"`
	Metrics map[string]Errors `json:"metrics"`
	Groups  []Group           `json:"groups"`
	// Cuts are the errors of the rows that a target is set for, see Targets.
	Cuts        []Group  `json:"cuts,omitempty"`
	Predictions []Scored `json:"predictions"`
	// LeftOut is the errors of runs that the constants did not see, see TrainingLeaveOut.
	LeftOut []Group `json:"left_out,omitempty"`
	// LeftOutNotes say which runs are in none of LeftOut, and why.
	LeftOutNotes []string `json:"left_out_notes,omitempty"`
	// Malformed is how many of Skipped, its first ones, are bad input: rows that make
	// no sense or name what does not exist.
	Malformed int `json:"-"`
	// Tables and Unread are how many kernel tables there are, and how many of them could not
	// be read: their rows are in no count.
	Tables int `json:"tables,omitempty"`
	Unread int `json:"unread_tables,omitempty"`
	// Notes are what a reader must know of the input beside its rows, a line each.
	Notes []string `json:"notes,omitempty"`
	// Farthest are the rows of kernel tables farthest off, with the kind as Model.
	Farthest []Scored `json:"farthest,omitempty"`
	// Sample is rows for a picture where Predictions stays empty: some of each kernel
	// table, with its kind as Model.
	Sample []Scored `json:"-"`
}

// LeftOutWords counts the first n of Skipped, rows or whole tables, and names the first.
func (d *Document) LeftOutWords(n int) string {
	var parts []string
	for _, k := range []struct {
		n    int
		what string
	}{{n - d.Unread, "row"}, {d.Unread, "table"}} { // tables that cannot be read are bad input
		switch {
		case k.n == 1:
			parts = append(parts, "1 "+k.what)
		case k.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", k.n, k.what))
		}
	}
	return fmt.Sprintf("%s, the first %s: %s", strings.Join(parts, " and "), d.Skipped[0].ID, d.Skipped[0].Reason)
}

// Skipped is a run that could not be predicted, with its reason in one line.
type Skipped struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Group is the errors of the runs that share a key.
type Group struct {
	// Key of training runs: ffn (dense or moe) with source, gpu and precision, with model, or with layout.
	Key    map[string]string `json:"key"`
	Errors                   // of tokens per second and GPU; of serving runs, of TPOT
	Memory *Errors           `json:"memory,omitempty"`
	TTFT   *Errors           `json:"ttft,omitempty"`
}

// Scored is one run's prediction beside its measurement: tokens per second and
// GPU of a training run, milliseconds per token of a serving run; memory in the
// unit and the scope of the run's own figure.
type Scored struct {
	ID              string   `json:"id"`
	Measured        float64  `json:"measured"`
	Predicted       float64  `json:"predicted"`
	MemoryMeasured  *float64 `json:"memory_measured,omitempty"`
	MemoryPredicted *float64 `json:"memory_predicted,omitempty"`
	TTFTMeasured    *float64 `json:"ttft_measured,omitempty"` // milliseconds
	TTFTPredicted   *float64 `json:"ttft_predicted,omitempty"`
	// Where 80 % of measured values lie by the prediction, see infer.Ranges and train.Result.Range80.
	Range       *[2]float64 `json:"range,omitempty"`
	TTFTRange   *[2]float64 `json:"ttft_range,omitempty"`
	Model       string      `json:"model"`
	GPU         string      `json:"gpu"`
	Engine      string      `json:"engine,omitempty"`
	Plan        string      `json:"plan"`
	StepSeconds float64     `json:"step_seconds,omitempty"`
}

// Ratio is predicted over measured throughput.
func (s *Scored) Ratio() float64 { return s.Predicted / s.Measured }

// The metrics of training runs.
const (
	MetricThroughput = "tokens_per_second_per_gpu"
	MetricMemory     = "memory"
)

// ratios are a group's predicted/measured values.
type ratios struct {
	speed, memory []float64
	range80       covered
}

// errors are those of the throughput.
func (r *ratios) errors() Errors {
	e := errorsOf(r.speed)
	e.Coverage = r.range80.share()
	return e
}

func (r *ratios) add(s *Scored) {
	r.speed = append(r.speed, s.Ratio())
	r.range80.add(s.Measured, s.Range[0], s.Range[1])
	if s.MemoryMeasured != nil {
		r.memory = append(r.memory, *s.MemoryPredicted / *s.MemoryMeasured)
	}
}

// Training predicts every run and states the errors, groups in the order of
// their keys, predictions in the order of the runs. bad are rows that could not be
// read; they and runs that cannot exist (models and GPUs that nobody knows, layouts that
// contradict each other) count as skipped and malformed, runs that cannot be predicted
// only as skipped. A context that ends leaves the
// remaining runs out: Scored and Skipped then count fewer than Rows.
func Training(ctx context.Context, runs []Run, bad []Skipped, p *Predictor) *Document {
	d := &Document{Rows: len(runs) + len(bad), Skipped: append([]Skipped{}, bad...), Predictions: []Scored{}, Groups: []Group{}, Metrics: map[string]Errors{}}
	var all ratios
	var misfits []Skipped
	groups, cuts := map[groupKey]*ratios{}, newCuts(CutDense, CutMoE)
	for i := range runs {
		if ctx.Err() != nil {
			break
		}
		r := &runs[i]
		x, err := p.Predict(r)
		if err == nil {
			err = r.checkMeasured(x)
		}
		switch {
		case isWrong(err):
			d.Skipped = append(d.Skipped, Skipped{r.ID, oneLine(err)})
			continue
		case err != nil:
			misfits = append(misfits, Skipped{r.ID, oneLine(err)})
			continue
		}
		s := scored(r, x)
		for _, key := range keysOf(r, x) {
			if groups[key] == nil {
				groups[key] = &ratios{}
			}
			groups[key].add(&s)
		}
		all.add(&s)
		switch {
		case x.MoE:
			cuts.add(CutMoE, s.Ratio())
		case r.Recompute != "":
			cuts.add(CutDense, s.Ratio())
		}
		d.Predictions = append(d.Predictions, s)
	}
	d.Scored, d.Malformed = len(d.Predictions), len(d.Skipped)
	d.Skipped = append(d.Skipped, misfits...)
	d.Metrics[MetricThroughput] = all.errors()
	if len(all.memory) > 0 {
		d.Metrics[MetricMemory] = errorsOf(all.memory)
	}
	d.group(groups)
	d.Cuts = cuts.groups()
	return d
}

// groupKey is the cells of a group's key, "" where a kind of group has none.
type groupKey struct{ source, gpu, precision, model, layout, ffn string }

// keysOf are the groups that a run belongs to.
func keysOf(r *Run, x *Prediction) []groupKey {
	return []groupKey{{source: r.Source, gpu: r.GPU, precision: r.Precision, ffn: ffnOf(x)}, {model: r.Model, ffn: ffnOf(x)}, {layout: layoutPattern(&x.Result.Plan), ffn: ffnOf(x)}}
}

// layoutPattern is how a plan divides the work, without how far: its degrees above 1 by their
// names, with fsdp for data parallelism that shards the weights.
func layoutPattern(p *plan.Plan) string {
	data := "dp"
	if p.ZeRO == 3 {
		data = "fsdp"
	}
	var words []string
	for _, d := range []struct {
		name   string
		degree int
	}{{"tp", p.TP}, {"cp", p.CP}, {"pp", p.PP}, {"vpp", p.VPP}, {"ep", p.EP}, {data, p.DP}} {
		if d.degree > 1 {
			words = append(words, d.name)
		}
	}
	if len(words) == 0 {
		return "one gpu"
	}
	return strings.Join(words, " ")
}

// ffnOf is the kind of a predicted model.
func ffnOf(x *Prediction) string {
	if x.MoE {
		return "moe"
	}
	return "dense"
}

// compare puts sources before models, and these before layouts.
func (k groupKey) compare(l groupKey) int {
	none := func(s string) int {
		if s == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(none(k.source), none(l.source)), cmp.Compare(none(k.model), none(l.model)), cmp.Compare(k.source, l.source), cmp.Compare(k.gpu, l.gpu),
		cmp.Compare(k.precision, l.precision), cmp.Compare(k.model, l.model), cmp.Compare(k.layout, l.layout), cmp.Compare(k.ffn, l.ffn))
}

// cells are those of the key that are not empty, by their names.
func (k groupKey) cells() map[string]string {
	m := map[string]string{"source": k.source, "gpu": k.gpu, "precision": k.precision, "model": k.model, "layout": k.layout, "ffn": k.ffn}
	maps.DeleteFunc(m, func(_, v string) bool { return v == "" })
	return m
}

func (d *Document) group(groups map[groupKey]*ratios) {
	for _, k := range slices.SortedFunc(maps.Keys(groups), groupKey.compare) {
		g := Group{Key: k.cells(), Errors: groups[k].errors()}
		if m := groups[k].memory; len(m) > 0 {
			e := errorsOf(m)
			g.Memory = &e
		}
		d.Groups = append(d.Groups, g)
	}
}

func scored(r *Run, x *Prediction) Scored {
	s := Scored{ID: r.ID, Measured: r.TokensPerSecondPerGPU, Predicted: x.TokensPerSecondPerGPU(), Model: r.Model, GPU: r.GPU,
		Plan: x.Result.Plan.String(), StepSeconds: float64(x.Result.Step)}
	low, high := x.Result.Range80()
	s.Range = &[2]float64{s.Predicted * float64(x.Result.Step/high), s.Predicted * float64(x.Result.Step/low)}
	if r.MemoryFigure > 0 {
		measured, predicted := r.MemoryFigure, x.Memory
		s.MemoryMeasured, s.MemoryPredicted = &measured, &predicted
	}
	return s
}

// Worst are the n predictions farthest from their measurement, by |ln ratio|.
func (d *Document) Worst(n int) []Scored {
	v := slices.Clone(d.Predictions)
	slices.SortStableFunc(v, func(a, b Scored) int {
		return cmp.Compare(math.Abs(math.Log(b.Ratio())), math.Abs(math.Log(a.Ratio())))
	})
	return v[:min(n, len(v))]
}
