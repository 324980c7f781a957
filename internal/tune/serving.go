package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/validate"
)

// serving fits what engines add to the kernels of this machine to whole runs on it.
func (o *Outcome) serving(ctx context.Context, in *Input) error {
	d := o.Machine.Device
	fits, skipped, err := validate.FitMachine(ctx, in.Serving, o.Machine, in.Configs)
	if err != nil {
		return fmt.Errorf("%s: %w", in.ServingFrom, err)
	}
	for _, s := range skipped {
		o.Unused = append(o.Unused, fmt.Sprintf("serving run %s: %s", s.ID, s.Reason))
	}
	if len(fits) == 0 {
		left := ""
		if n := len(in.Unused); n > 0 {
			left = fmt.Sprintf(" (%d more were left out before, the first: %s)", n, in.Unused[0])
		}
		return fmt.Errorf("%s: no engine has enough serving runs on %s: %s%s: add runs of other lengths and numbers of users on this GPU", in.ServingFrom, d.Name, skipped[len(skipped)-1].Reason, left)
	}
	for i := range fits {
		f := &fits[i]
		p := &f.Profile
		source := fmt.Sprintf("fitted to %d serving runs on this machine", f.Rows)
		warning := worseUnseen("runs", f.HeldTPOT.MedianAPE, f.Before.MedianAPE)
		if warning != "" {
			o.Warnings = append(o.Warnings, p.Engine+": "+warning)
		}
		o.Notes = append(o.Notes, fmt.Sprintf("%s: TPOT off by %.1f %% median, %.1f %% mean; held out %.1f %%, %.1f %%; TTFT %.1f %%, %.1f %%; held out %.1f %%, %.1f %%", p.Engine,
			100*f.TPOT.MedianAPE, 100*f.TPOT.MAPE, 100*f.HeldTPOT.MedianAPE, 100*f.HeldTPOT.MAPE, 100*f.TTFT.MedianAPE, 100*f.TTFT.MAPE, 100*f.HeldTTFT.MedianAPE, 100*f.HeldTTFT.MAPE))
		o.constants(f, source)
		if len(f.Kept) > 0 {
			source += "; some constants kept"
		}
		source += "; left out of the fit " + f.HeldText()
		if only := oneModel(f.Runs); only != "" {
			source += "; all of " + only + ": how far other models are off is not known"
			o.Warnings = append(o.Warnings, fmt.Sprintf("%s: all runs are of %s: how well the fit predicts another model is not known; add runs of one, or keep the machine before for others", p.Engine, only))
		}
		if warning != "" {
			source += "; " + warning
		}
		h := hw.Host{Step: p.Step, Sequence: p.Sequence, Source: source,
			Whole: &hw.WholeRuns{Prompt: p.Prompt, Request: p.Request, RequestToken: p.RequestToken, Sustained: p.Sustained, Launch: p.Launch, Quantise: p.Quantise, Arrival: p.Arrival, Admission: p.Admission}}
		o.host(p.Engine, h)
		o.Residuals = append(o.Residuals, servingResiduals(f)...)
	}
	return nil
}

// oneModel is the model that all runs are of; "" of several.
func oneModel(runs []validate.ServingRun) string {
	for i := range runs {
		if runs[i].Model != runs[0].Model {
			return ""
		}
	}
	return runs[0].Model
}

// worseUnseen warns of a fit whose error on what it did not see is larger than that of the machine
// before, by more than runs repeat; "" of others. what is runs or logs, errors are medians, fractions.
func worseUnseen(what string, held, before float64) string {
	if held <= before+repeats {
		return ""
	}
	return fmt.Sprintf("%[1]s that the fit did not see are off by %.1[2]f %% on the median, more than the %.1[3]f %% of the machine before: the %[1]s contradict each other, or are too few for their models and layouts; keep the machine before, or add %[1]s", what, 100*held, 100*before)
}

// constants books what the runs settle of an engine's constants, and why the others stay.
func (o *Outcome) constants(f *validate.MachineFit, source string) {
	before := validate.Constants(&f.Start)
	for i, c := range validate.Constants(&f.Profile) {
		why, kept := f.Kept[c.Key]
		if kept {
			why = "kept: " + why
		} else {
			why = source
		}
		if slices.Contains(f.Ends, c.Key) {
			why += "; at the end of its range: something that the runs' table does not say moves them too"
		}
		o.change("engines."+f.Profile.Engine+"."+c.Key, hw.Figure{Value: before[i].Value, Grade: hw.Measured}, c.Value, why)
		o.Changes[len(o.Changes)-1].Kept = kept
	}
}

// host sets what an engine's host does on the machine.
func (o *Outcome) host(engine string, h hw.Host) {
	d := o.Machine.Device
	k := hw.Kernels{Arch: d.Arch}
	if d.Kernels != nil {
		k = *d.Kernels
	}
	k.Engines = slices.Clone(k.Engines)
	i := slices.IndexFunc(k.Engines, func(e hw.Engine) bool { return e.Name == engine })
	if i < 0 {
		i, k.Engines = len(k.Engines), append(k.Engines, hw.Engine{Name: engine})
	}
	k.Engines[i].Host = h
	d.Kernels = &k
}

// servingResiduals are the runs beside the fit: mean time per token, and mean time to
// the first one where it was measured.
func servingResiduals(f *validate.MachineFit) []Residual {
	var out []Residual
	for i := range f.Fitted {
		r, a, b := &f.Runs[i], &f.Fitted[i], &f.Held[i]
		one := Residual{Run: r.ID, Model: r.Model, Layout: a.Plan, Format: r.Weights, Batch: r.Concurrency, Tokens: int64(r.ISL), Context: int64(r.ISL + r.OSL/2)}
		one.What, one.Measured, one.Fitted, one.HeldOut = "tpot", a.Measured/1e3, a.Predicted/1e3, b.Predicted/1e3
		out = append(out, one)
		if a.TTFTMeasured != nil && b.TTFTPredicted != nil {
			one.What, one.Measured, one.Fitted, one.HeldOut = "ttft", *a.TTFTMeasured/1e3, *a.TTFTPredicted/1e3, *b.TTFTPredicted/1e3
			out = append(out, one)
		}
	}
	return out
}
