package report

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/validate"
)

// Serving prints the errors of serving runs: over all rows, by each cut, the
// worst single runs, and what was skipped with its reasons.
func Serving(p *Page, d *validate.Document) {
	scored(p, d, "Errors are |predicted/measured - 1| of mean times; bias is the median of predicted/measured - 1: above 0 is too slow.",
		validate.MetricTPOT, validate.MetricTTFT)
	for _, n := range d.Notes {
		p.Text(0, "%s", n)
	}
	var rows [][]string
	for i := range d.Groups {
		g := &d.Groups[i]
		cells := append([]string{groupLabel(g)}, errorCells(&g.Errors)...)
		for range 2 {
			cells = append(cells, "")
		}
		if g.TTFT != nil {
			cells[len(cells)-2], cells[len(cells)-1] = percent(g.TTFT.MedianAPE), fmt.Sprintf("%+.1f %%", 100*g.TTFT.Bias)
		}
		rows = append(rows, cells)
	}
	columns := append([]Column{Left("group (errors of tpot)")}, errorColumns...)
	p.Table(append(columns, Right("ttft"), Right("ttft bias")), rows)
	worstServing(p, d)
	skippedByReason(p, d)
}

// groupLabel is a group's key in words, in a fixed order.
func groupLabel(g *validate.Group) string {
	var words []string
	for _, k := range []string{"model", "gpu", "engine", "weights", "layout", "concurrency"} {
		if v := g.Key[k]; v != "" {
			words = append(words, v)
		}
	}
	if n := g.Key["concurrency"]; n != "" {
		return n + " in flight"
	}
	return strings.ReplaceAll(strings.Join(words, " "), ",", " ")
}

func worstServing(p *Page, d *validate.Document) {
	var rows [][]string
	for _, s := range d.Worst(worstRows) {
		rows = append(rows, []string{s.ID, s.Model, s.GPU, s.Engine, strings.ReplaceAll(s.Plan, ",", " "), fmt.Sprintf("%.4g", s.Measured), fmt.Sprintf("%.4g", s.Predicted), fmt.Sprintf("%.2f", s.Ratio())})
	}
	if len(rows) == 0 {
		return
	}
	p.Line("")
	p.Heading("Farthest off, TPOT in milliseconds")
	p.Table([]Column{Left("id"), Left("model"), Left("gpu"), Left("engine"), Left("plan"), Right("measured"), Right("predicted"), Right("ratio")}, rows)
}
