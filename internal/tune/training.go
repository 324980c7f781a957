package tune

import (
	"context"
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// TrainingRun is a training log and the job that it is of. The request's cluster is the
// machine to start from with the run's GPUs; keys that its plan leaves open are searched.
type TrainingRun struct {
	Request *api.TrainRequest
	Record  *record.Record
}

// trained is a run whose plan is settled.
type trained struct {
	run       *TrainingRun
	evaluator *train.Evaluator
	best      *train.Result
	measured  float64 // seconds per step
}

// training fits the figures that the runs tell apart and puts them into the machine.
func (o *Outcome) training(ctx context.Context, runs []TrainingRun) error {
	list := make([]*trained, len(runs))
	for i := range runs {
		var err error
		if list[i], err = o.settle(ctx, &runs[i]); err != nil {
			return err
		}
	}
	f := &trainingFit{ctx, o.Machine.Clone()}
	for i := range list { // the records' figures are the machine's by now
		if err := f.rebase(list[i]); err != nil {
			return err
		}
	}
	c, refused, err := f.choose(list)
	if err != nil {
		return err
	}
	o.Notes = append(o.Notes, refused...)
	if c == nil {
		return fmt.Errorf("%s: no figure of the machine moves these steps by itself: nothing can be fitted to them", list[0].run.Record.Source)
	}
	if err := o.trainingResiduals(f, list, c); err != nil {
		return err
	}
	if err := o.explained(f, list, c); err != nil {
		return err
	}
	o.adopt(f, list, c)
	return nil
}

// settle reads the run's step and settles the keys that its plan leaves open.
func (o *Outcome) settle(ctx context.Context, run *TrainingRun) (*trained, error) {
	name := run.Record.Source
	measured, err := stepOf(run)
	if err != nil {
		return nil, err
	}
	if err := sameModel(run, measured); err != nil {
		return nil, err
	}
	asked := *run.Request
	whole, differ, err := asked.Fixed.Stated(layoutOf(run))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if differ != nil {
		return nil, fmt.Errorf("%s: the log states %s=%d, --plan has %s=%d: correct one of them", name, differ.Key, differ.Stated, differ.Key, differ.Given)
	}
	asked.Fixed = whole
	if asked.Fixed, err = pipelined(asked.Fixed); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	a, e, err := api.Narrow(ctx, &asked)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !a.Best.Fits {
		o.Notes = append(o.Notes, fmt.Sprintf("%s: %s is predicted to need %s of %s usable, and yet it ran", name, a.Best.Plan.String(), unit.FormatGB(a.Best.Memory.Total()), unit.FormatGB(a.Best.Limit)))
	}
	if floor := float64(a.Best.Lower); measured < floor {
		return nil, fmt.Errorf("%s: a step takes %s, and this job needs %s at the machine's achieved rates: correct model, --plan, --global-batch, --seq or --precision, or give records of faster rates",
			name, unit.FormatSeconds(unit.Seconds(measured)), unit.FormatSeconds(unit.Seconds(floor)))
	}
	return &trained{run, e, a.Best, measured}, nil
}

// pipelined is a plan with the schedule that engines run by themselves where it names
// none: 1F1B, interleaved with virtual stages (Megatron-LM, torchtitan, NeMo). The search would
// take the fastest of all.
func pipelined(f *plan.Fixed) (*plan.Fixed, error) {
	switch {
	case f.Has(plan.KeySchedule):
		return f, nil
	case f.Has(plan.KeyVPP) && f.Plan.VPP > 1:
		return f.With(plan.KeySchedule, "interleaved")
	}
	return f.With(plan.KeySchedule, "1f1b")
}

// agree is how far two statements of one log about its throughput may lie apart.
const agree = 0.02

// stepOf is the median step of a log, s. A log that states tokens as well has to agree
// with the job that the user named.
func stepOf(run *TrainingRun) (float64, error) {
	r, name := run.Request, run.Record.Source
	tokens := float64(r.GlobalBatch) * float64(r.Seq)
	var step, stated float64
	for i := range run.Record.Results {
		x := &run.Record.Results[i]
		switch {
		case x.Kind != record.Training:
		case x.What == "step":
			step = x.Value
			if x.Batch > 0 && x.Batch != r.GlobalBatch {
				return 0, fmt.Errorf("%s: the log states a global batch of %d, the job has %d: give --global-batch %d", name, x.Batch, r.GlobalBatch, x.Batch)
			}
			if x.Tokens > 0 && x.Tokens != int64(r.GlobalBatch)*int64(r.Seq) {
				return 0, fmt.Errorf("%s: the log states steps of %d tokens, the job has %d x %d: correct --global-batch and --seq", name, x.Tokens, r.GlobalBatch, r.Seq)
			}
		case x.What == "tokens":
			if x.Ranks > 0 && int64(x.Ranks) != r.Cluster.GPUs {
				return 0, fmt.Errorf("%s: the log is of %d GPUs, the job of %d: give --gpus %d", name, x.Ranks, r.Cluster.GPUs, x.Ranks)
			}
			stated = tokens / float64(r.Cluster.GPUs) / x.Value
		}
	}
	switch {
	case step == 0 && stated == 0:
		return 0, fmt.Errorf("%s: no step time and no tokens per second in it: give a log of Megatron-LM, torchtitan or NeMo", name)
	case step == 0:
		return stated, nil
	case stated > 0 && math.Abs(stated/step-1) > agree:
		return 0, fmt.Errorf("%s: its tokens per second make a step of %.4g s with --global-batch %d and --seq %d, the log's own steps take %.4g s: correct the two", name, stated, r.GlobalBatch, r.Seq, step)
	}
	return step, nil
}

// layoutOf are the keys of the plan that the log itself states.
func layoutOf(run *TrainingRun) string {
	for i := range run.Record.Results {
		if l := run.Record.Results[i].Layout; l != "" {
			return l
		}
	}
	return ""
}

// otherModel is how far the FLOPs of a token that a log's FLOP/s make may lie from the model's: frameworks
// count heads, normalisations and a mask's half each in their own way.
const otherModel = 1.5

// sameModel refuses a log whose own FLOP/s are of another model; step is in seconds.
func sameModel(run *TrainingRun, step float64) error {
	r := run.Request
	for i := range run.Record.Results {
		x := &run.Record.Results[i]
		if x.Kind != record.Training || x.What != "flops" {
			continue
		}
		stated := x.Value * step * float64(r.Cluster.GPUs) / (float64(r.GlobalBatch) * float64(r.Seq))
		least, most := r.Model.FLOPsPerToken(int64(r.Seq), model.Causal, r.MTP), r.Model.FLOPsPerToken(int64(r.Seq), model.Full, r.MTP)
		if stated < float64(least)/otherModel || stated > float64(most)*otherModel {
			return fmt.Errorf("%s: its %.4g TFLOP/s of a GPU make %.3g FLOPs of a token, %s takes %.3g: name the model of the log, or correct --gpus, --global-batch or --seq",
				run.Record.Source, x.Value/1e12, stated, r.Model.Name, float64(least))
		}
	}
	return nil
}
