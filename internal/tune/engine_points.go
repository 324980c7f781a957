package tune

import (
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
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
			if passing(run.Record, r) {
				o.unused(run.Record, r, fmt.Sprintf("seen in passing, %d times beside steps of %d and more", r.Repeats, enough))
				continue
			}
			if short(run.Record, r) {
				o.unused(run.Record, r, fmt.Sprintf("a prompt of %d tokens: rates of so few rows are those of generating steps, prompts of %d and more tell theirs", r.Tokens, promptRows))
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

// passing tells of a step that generates while requests begin or end, where others of its
// run were held long enough: a rate of its own would be that of the disturbance.
func passing(run *record.Record, r *record.Result) bool {
	held := func(x *record.Result) bool { return x.What == "decode" && x.Repeats >= enough && x.Best > 0 }
	if r.What != "decode" || r.Repeats == 0 || held(r) {
		return false
	}
	for i := range run.Results {
		if x := &run.Results[i]; x.Kind == record.Serving && held(x) {
			return true
		}
	}
	return false
}

// short tells of prompts with fewer rows than prompts stand for, where others of their run
// have as many: steps that generate tell the rates of few rows, without a prompt's attention.
func short(run *record.Record, r *record.Result) bool {
	return r.What == "prefill" && r.Tokens < promptRows && slices.ContainsFunc(run.Results, func(x record.Result) bool {
		return x.Kind == record.Serving && x.What == "prefill" && x.Tokens >= promptRows
	})
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

// promptRows stands for all prompts: from so many rows on a product's rate is taken
// as constant. llama.cpp's kernels work on blocks of at most 16 rows.
const promptRows = 64

func (p *point) residual() Residual {
	return Residual{Model: p.model.Name, What: p.result.What, Format: p.format.String(), Batch: p.result.Batch, Tokens: p.result.Tokens, Context: p.result.Context, Measured: p.seconds}
}
