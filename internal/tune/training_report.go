package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/calib"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

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

// explained refuses a fit that does not account for a log, or only with a figure at which no
// link or kernel works as meant.
func (o *Outcome) explained(f *trainingFit, list []*trained, c *choice) error {
	const mend = "correct its model, --plan, --global-batch, --seq or --precision, take damaged lines out, or leave it out; nothing is written"
	for i := range o.Training {
		r := &o.Training[i]
		if off := r.Fitted/r.Measured - 1; math.Abs(off) > calib.Unexplained {
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

// far is a ratio of measured and predicted step beyond which a job named wrongly is
// likelier than a machine so unlike its like: 397 of 401 published runs are within it
// (docs/accuracy.md).
const far = 2

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
	if warning := o.worseLogs(); warning != "" {
		o.Warnings = append(o.Warnings, warning)
	}
	if len(list) == 1 {
		o.Notes = append(o.Notes, "one run: how well the fit predicts another is not known; cross-validation needs two")
	}
	return nil
}

// worseLogs is worseUnseen of the training runs, "" of a single one.
func (o *Outcome) worseLogs() string {
	var held, before []float64
	for i := range o.Training {
		if r := &o.Training[i]; r.HeldOut > 0 {
			held, before = append(held, math.Abs(r.HeldOut/r.Measured-1)), append(before, math.Abs(r.Before/r.Measured-1))
		}
	}
	if len(held) == 0 {
		return ""
	}
	return worseUnseen("logs", middle(held), middle(before))
}

// middle is the median.
func middle(v []float64) float64 {
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// adopt writes the fitted figures into the machine.
func (o *Outcome) adopt(f *trainingFit, list []*trained, c *choice) {
	from := fmt.Sprintf("fit to the steps of a training log: %s", list[0].run.Record.Source)
	if len(list) > 1 {
		from = fmt.Sprintf("fit to the steps of %d training logs, %s the first", len(list), list[0].run.Record.Source)
	}
	if warning := o.worseLogs(); warning != "" {
		from += "; " + warning
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
