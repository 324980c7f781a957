package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/hw"
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

// TrainingResidual is one run beside the machine before and after the fit, seconds per
// step. HeldOut is predicted by a fit to the other runs, 0 where there are none.
type TrainingResidual struct {
	Model    string  `json:"model"`
	Source   string  `json:"source"` // the log
	GPUs     int64   `json:"gpus"`
	Plan     string  `json:"plan"`
	Measured float64 `json:"measured_seconds"`
	Before   float64 `json:"before_seconds"`
	Fitted   float64 `json:"fitted_seconds"`
	HeldOut  float64 `json:"held_out_seconds,omitempty"`
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

// unexplained is how far a fit may leave a step off, as a share of it: half as much again as
// predictions of published runs are off on the mean with nothing fitted to them at the target
// for mixtures of experts, 18 % (docs/accuracy.md).
const unexplained = 0.27

// explained refuses a fit that does not account for a log, or only with a figure at which no
// link or kernel works as meant.
func (o *Outcome) explained(f *trainingFit, list []*trained, c *choice) error {
	const mend = "correct its model, --plan, --global-batch, --seq or --precision, take damaged lines out, or leave it out; nothing is written"
	for i := range o.Training {
		r := &o.Training[i]
		if off := r.Fitted/r.Measured - 1; math.Abs(off) > unexplained {
			return fmt.Errorf("%s: this log cannot be explained: steps take %s, and the best fit of %s predicts %s (%+.1f %%): %s", r.Source,
				unit.FormatSeconds(unit.Seconds(r.Measured)), c.keys(), unit.FormatSeconds(unit.Seconds(r.Fitted)), 100*off, mend)
		}
	}
	for k, x := range c.figures {
		if low, _ := x.bounds(f.base, list[0].evaluator); c.at[k] <= low*(1+onBound) {
			slow := slices.MaxFunc(list, func(a, b *trained) int { return cmp.Compare(a.measured, b.measured) })
			return fmt.Errorf("%s: this log cannot be explained: the best fit needs a %s of %s, below which no machine works as meant: %s", slow.run.Record.Source, x.key, inUnit(x.key, c.at[k]), mend)
		}
	}
	return nil
}

// keys are the figures of a choice in words.
func (c *choice) keys() string {
	var list []string
	for k, x := range c.figures {
		list = append(list, x.key+" = "+inUnit(x.key, c.at[k]))
	}
	return strings.Join(list, ", ")
}

// settle reads the run's step and settles the keys that its plan leaves open.
func (o *Outcome) settle(ctx context.Context, run *TrainingRun) (*trained, error) {
	name := run.Record.Source
	measured, err := stepOf(run)
	if err != nil {
		return nil, err
	}
	asked := *run.Request
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

// far is a ratio of measured and predicted step beyond which a job named wrongly is
// likelier than a machine so unlike its like: 397 of 401 published runs are within it
// (docs/accuracy.md).
const far = 2

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

// trainingResiduals puts every run beside the fit, and beside a fit to the others.
func (o *Outcome) trainingResiduals(f *trainingFit, list []*trained, c *choice) error {
	for i, t := range list {
		r := TrainingResidual{Model: t.run.Request.Model.Name, Source: t.run.Record.Source, GPUs: t.run.Request.Cluster.GPUs, Plan: t.best.Plan.String(), Measured: t.measured}
		var err error
		if r.Before, err = f.step(t, nil, nil); err == nil {
			r.Fitted, err = f.step(t, c.figures, c.at)
		}
		if err != nil {
			return err
		}
		if len(list) > 1 {
			others := append(append([]*trained{}, list[:i]...), list[i+1:]...)
			without, err := f.again(others, c)
			if err != nil {
				return err
			}
			if r.HeldOut, err = f.step(t, without.figures, without.at); err != nil {
				return err
			}
		}
		if r.Before > far*r.Measured || r.Measured > far*r.Before {
			o.Notes = append(o.Notes, fmt.Sprintf("%s: a step takes %.1f times what the machine before predicts: make sure of model, plan, batch and precision before you trust the fit", r.Source, r.Measured/r.Before))
		}
		o.Training = append(o.Training, r)
	}
	if len(list) == 1 {
		o.Notes = append(o.Notes, "one run: how well the fit predicts another is not known; cross-validation needs two")
	}
	return nil
}

// adopt writes the fitted figures into the machine.
func (o *Outcome) adopt(f *trainingFit, list []*trained, c *choice) {
	from := fmt.Sprintf("fit to the steps of a training log: %s", list[0].run.Record.Source)
	if len(list) > 1 {
		from = fmt.Sprintf("fit to the steps of %d training logs, %s the first", len(list), list[0].run.Record.Source)
	}
	for k, x := range c.figures {
		before := x.now(f.base, list[0].evaluator)
		fig := hw.Figure{Value: c.at[k], Grade: hw.Measured, Source: from}
		x.set(o.Machine, fig)
		o.change(x.key, hw.Figure{Value: before, Grade: hw.Measured}, c.at[k], from)
		_, high := x.bounds(f.base, list[0].evaluator)
		if c.at[k] >= high*(1-onBound) {
			o.Notes = append(o.Notes, fmt.Sprintf("%s stands on the upper bound of the fit, %s: other figures or keys of the plan (recompute, overlap, mbs) are further from the truth than it can make up for", x.key, inUnit(x.key, c.at[k])))
		}
	}
}
