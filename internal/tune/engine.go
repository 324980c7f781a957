package tune

import (
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/unit"
)

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

// mostOverFP32 is by how much a CPU multiplies narrow formats faster than FP32, at most: a core with AMX
// takes 2,048 operations of INT8 a cycle, and 64 of FP32 with AVX-512 (Intel 64 and IA-32 Architectures Optimization
// Reference Manual, chapter on AMX).
const mostOverFP32 = 32

// possible refuses rates of products that no CPU with the measured rate of FP32 has.
func possible(d *hw.Device) error {
	base := d.Achieved.Matrix[unit.FP32]
	if !base.Known() || base.Grade != hw.Measured {
		return nil
	}
	for _, f := range []unit.Format{unit.FP16, unit.Q8_0, unit.Q4_0} {
		if v := d.Achieved.Matrix[f]; v.Known() && v.Value > mostOverFP32*base.Value {
			return fmt.Errorf("the steps need %.3g TFLOP/s of %s from a CPU of which %.3g of FP32 were measured, and none multiplies %d times as fast: name the model, the machine and the threads that were measured",
				v.Value/1e12, f, base.Value/1e12, mostOverFP32)
		}
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
		matrix [unit.NumFormats]hw.Figure
		prompt hw.Figure
		decode float64
	}{matrix: d.Achieved.Matrix, prompt: d.Achieved.AttentionFwd}
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
	if err := possible(d); err != nil {
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
		{"engines." + f.engine + ".step_us", own(float64(profile.Step)), float64(f.step)}, {"engines." + f.engine + ".sequence_us", own(float64(profile.Sequence)), float64(f.sequence)}} {
		if c.after > 0 {
			o.change(c.key, c.before, c.after, f.source)
		}
	}
	return nil
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
