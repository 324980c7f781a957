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
	errorsOf := func(of func(*tune.TrainingResidual) float64) *fitErrors {
		var pairs [][2]float64
		for i := range list {
			pairs = append(pairs, [2]float64{of(&list[i]), list[i].Measured})
		}
		return errorsOfPairs(pairs)
	}
	return &trainingDoc{list,
		errorsOf(func(r *tune.TrainingResidual) float64 { return r.Before }),
		errorsOf(func(r *tune.TrainingResidual) float64 { return r.Fitted }),
		errorsOf(func(r *tune.TrainingResidual) float64 { return r.HeldOut })}
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
		out := ""
		if r.HeldOut > 0 {
			out = off(r.HeldOut, r.Measured)
		}
		rows = append(rows, []string{r.Source, r.Model, fmt.Sprint(r.GPUs), unit.FormatSeconds(unit.Seconds(r.Measured)), off(r.Before, r.Measured), off(r.Fitted, r.Measured), out})
	}
	p.Table([]Column{Left("log"), Left("model"), Right("GPUs"), Right("measured"), Right("before"), Right("fitted"), Right("held out")}, rows)
	for i := range list {
		p.Text(2, "%s is taken to have run %s", list[i].Source, list[i].Plan)
	}
	p.Line("")
	for _, e := range []struct {
		what string
		of   *fitErrors
	}{{"before", d.Before}, {"fitted", d.Fitted}, {"held out", d.HeldOut}} {
		if e.of != nil {
			p.Line("%-9s %s: off by %s median, %s mean, %s at worst", e.what, Plural(int64(e.of.N), "run"), percent(e.of.Median), percent(e.of.Mean), percent(e.of.Worst))
		}
	}
}
