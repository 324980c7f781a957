package report

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/tune"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// trainingDoc is the training runs of a calibration: each beside the machine before and
// after, and beside a fit to the others.
type trainingDoc struct {
	Runs    []tune.TrainingResidual `json:"runs"`
	Before  *fitErrors              `json:"before"`
	Fitted  *fitErrors              `json:"fitted"`
	HeldOut *fitErrors              `json:"held_out,omitempty"`
}

func newTrainingDoc(list []tune.TrainingResidual) *trainingDoc {
	if len(list) == 0 {
		return nil
	}
	return &trainingDoc{list,
		errorsOver(list, func(r *tune.TrainingResidual) (p, m float64) { return r.Before, r.Measured }),
		errorsOver(list, func(r *tune.TrainingResidual) (p, m float64) { return r.Fitted, r.Measured }),
		errorsOver(list, func(r *tune.TrainingResidual) (p, m float64) { return r.HeldOut, r.Measured })}
}

// trainingResiduals prints the training runs beside the fit.
func trainingResiduals(p *Page, list []tune.TrainingResidual) {
	d := newTrainingDoc(list)
	if d == nil {
		return
	}
	p.Line("")
	p.Heading("Steps of training: measured, and how far predictions are off")
	var rows [][]string
	for i := range list {
		r := &list[i]
		rows = append(rows, []string{r.Source, r.Model, fmt.Sprint(r.GPUs), unit.FormatSeconds(unit.Seconds(r.Measured)), off(r.Before, r.Measured), off(r.Fitted, r.Measured), off(r.HeldOut, r.Measured)})
	}
	p.Table([]Column{Left("log"), Left("model"), Right("GPUs"), Right("measured"), Right("before"), Right("fitted"), Right("held out")}, rows)
	for i := range list {
		p.Text(2, "%s is taken to have run %s", list[i].Source, list[i].Plan)
	}
	p.Line("")
	d.Before.line(p, "before", "run")
	d.Fitted.line(p, "fitted", "run")
	d.HeldOut.line(p, "held out", "run")
}
