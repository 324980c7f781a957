package report

import (
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/validate"
)

// Requests prints the errors of replayed requests: statistics over all beside the
// measured ones, single requests, and the farthest off.
func Requests(p *Page, d *validate.Document) {
	p.Heading("%d of %d requests scored", d.Scored, d.Rows)
	for _, n := range d.Notes {
		p.Text(0, "%s", n)
	}
	var rows, single [][]string
	for _, name := range []string{validate.MetricTTFT, validate.MetricTPOT, validate.MetricE2E} {
		e := d.Metrics[name]
		if e.N == 0 || e.Spread == nil {
			continue
		}
		s := e.Spread
		for _, x := range []struct {
			what                     string
			measured, predicted, off float64
		}{{"mean", s.Measured.Mean, s.Predicted.Mean, s.Mean}, {"p50", s.Measured.P50, s.Predicted.P50, s.P50},
			{"p90", s.Measured.P90, s.Predicted.P90, s.P90}, {"p99", s.Measured.P99, s.Predicted.P99, s.P99}} {
			rows = append(rows, []string{name, x.what, sec(unit.Seconds(x.measured)), sec(unit.Seconds(x.predicted)), percent(x.off)})
		}
		single = append(single, append([]string{name}, errorCells(&e)...))
	}
	p.Table([]Column{Left("metric"), Left("over requests"), Right("measured"), Right("predicted"), Right("error")}, rows)
	p.Line("")
	p.Text(0, "Request by request, |predicted/measured - 1|; bias is the median of predicted/measured - 1: above 0 is too slow.")
	p.Table(append([]Column{Left("metric")}, errorColumns...), single)
	worstServing(p, d)
	skippedByReason(p, d)
}
