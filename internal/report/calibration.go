package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/ridgeline/ridgeline/internal/tune"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// MachineDoc is the JSON of a calibration.
type MachineDoc struct {
	Machine   string          `json:"machine"`
	File      string          `json:"file"`
	Changes   []tune.Change   `json:"changes"`
	Residuals []tune.Residual `json:"residuals"`
	Fitted    *fitErrors      `json:"fitted,omitempty"`
	HeldOut   *fitErrors      `json:"held_out,omitempty"`
	Training  *trainingDoc    `json:"training,omitempty"`
	Unused    []string        `json:"unused"`
	Notes     []string        `json:"notes"`
	Warnings  []string        `json:"warnings,omitempty"`
}

// fitErrors are |predicted/measured - 1| over runs.
type fitErrors struct {
	N      int     `json:"n"`
	Median float64 `json:"median_ape"`
	Mean   float64 `json:"mape"`
	Worst  float64 `json:"worst_ape"`
}

// NewMachineDoc makes the document.
func NewMachineDoc(o *tune.Outcome, file string) *MachineDoc {
	return &MachineDoc{Machine: o.Machine.Name, File: file, Changes: o.Changes, Residuals: o.Residuals, Unused: o.Unused, Notes: o.Notes, Warnings: o.Warnings,
		Fitted: fittedErrors(o.Residuals), HeldOut: heldOutErrors(o.Residuals), Training: newTrainingDoc(o.Training)}
}

func fittedErrors(list []tune.Residual) *fitErrors {
	return errorsOver(list, func(r *tune.Residual) (p, m float64) { return r.Fitted, r.Measured })
}

func heldOutErrors(list []tune.Residual) *fitErrors {
	return errorsOver(list, func(r *tune.Residual) (p, m float64) { return r.HeldOut, r.Measured })
}

// errorsOver are the errors of the runs that have a prediction; nil of none.
func errorsOver[T any](list []T, of func(*T) (predicted, measured float64)) *fitErrors {
	var v []float64
	sum := 0.0
	for i := range list {
		if p, m := of(&list[i]); p > 0 {
			v = append(v, math.Abs(p/m-1))
			sum += v[len(v)-1]
		}
	}
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	return &fitErrors{N: len(v), Median: (v[(len(v)-1)/2] + v[len(v)/2]) / 2, Mean: sum / float64(len(v)), Worst: v[len(v)-1]}
}

// Calibration prints what changed and how well it fits.
func Calibration(p *Page, o *tune.Outcome, file string) {
	p.Heading("%s, written to %s", o.Machine.Name, file)
	p.Line("")
	var rows [][]string
	for _, c := range o.Changes {
		before := "unknown"
		if c.Before != nil {
			before = fmt.Sprintf("%.4g", *c.Before)
		}
		rows = append(rows, []string{c.Figure, before, fmt.Sprintf("%.4g", c.After), c.Unit, c.Source})
	}
	if len(rows) > 0 {
		p.Table([]Column{Left("figure"), Right("before"), Right("now"), Left("unit"), Left("source")}, rows)
	}
	residuals(p, o.Residuals)
	trainingResiduals(p, o.Training)
	for i, u := range o.Unused {
		if i == 0 {
			p.Line("")
			p.Heading("Unused")
		}
		p.Text(2, "%s", u)
	}
	for _, n := range o.Notes {
		p.Text(2, "note: %s", n)
	}
}

// residuals prints steps of engines and whole runs beside the fit.
func residuals(p *Page, list []tune.Residual) {
	var steps, runs []tune.Residual
	for _, r := range list {
		if r.Run != "" {
			runs = append(runs, r)
		} else {
			steps = append(steps, r)
		}
	}
	if len(steps) > 0 {
		p.Line("")
		p.Heading("Steps of the engine: measured, fitted, and predicted from the other steps of the format")
		var rows [][]string
		for i := range steps {
			r := &steps[i]
			tokens := ""
			if r.Tokens > 0 {
				tokens = Grouped(r.Tokens)
			}
			rows = append(rows, append([]string{r.Model, r.Format, r.What, fmt.Sprint(r.Batch), tokens, fmt.Sprint(r.Context)}, cells(r)...))
		}
		p.Table(append([]Column{Left("model"), Left("weights"), Left("step"), Right("sequences"), Right("tokens"), Right("context")}, besideFit...), rows)
		p.Line("")
		fittedErrors(steps).line(p, "fitted", "step")
		heldOutErrors(steps).line(p, "held out", "step")
	}
	if len(runs) > 0 {
		servingResiduals(p, runs)
	}
}

// servingResiduals prints the times of whole runs beside the fit.
func servingResiduals(p *Page, runs []tune.Residual) {
	p.Line("")
	p.Heading("Serving runs: measured, fitted, and predicted by a fit to other runs")
	var rows [][]string
	for i := range runs {
		r := &runs[i]
		rows = append(rows, append([]string{r.Run, r.Model, r.Layout, r.Format, fmt.Sprint(r.Batch), Grouped(r.Tokens), r.What}, cells(r)...))
	}
	p.Table(append([]Column{Left("run"), Left("model"), Left("layout"), Left("weights"), Right("users"), Right("prompt"), Left("time")}, besideFit...), rows)
	p.Text(2, "held out: fitted without the runs of the same model, or, of one model alone, without a fifth of all")
	p.Line("")
	fittedErrors(runs).line(p, "fitted", "time")
	heldOutErrors(runs).line(p, "held out", "time")
}

// besideFit are the columns of cells.
var besideFit = []Column{Right("measured"), Right("fit off by"), Right("held out")}

// cells are a measurement and how far the fits are off.
func cells(r *tune.Residual) []string {
	return []string{unit.FormatSeconds(unit.Seconds(r.Measured)), off(r.Fitted, r.Measured), off(r.HeldOut, r.Measured)}
}

// line says the errors of what in words; nothing of none.
func (e *fitErrors) line(p *Page, what, of string) {
	if e != nil {
		p.Line("%-9s %s: off by %s median, %s mean, %s at worst", what, Plural(int64(e.N), of), percent(e.Median), percent(e.Mean), percent(e.Worst))
	}
}

// off is how far a prediction is off, "" without one.
func off(predicted, measured float64) string {
	if predicted == 0 {
		return ""
	}
	return fmt.Sprintf("%+.1f %%", 100*(predicted/measured-1))
}
