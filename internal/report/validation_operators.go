package report

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/validate"
)

// Operators prints the errors of kernel tables: over all rows, by table, and what
// was skipped, the first rows of each reason by name.
func Operators(p *Page, d *validate.Document) {
	scored(p, d, "Errors are |predicted/measured - 1| of the latency; bias is the median of predicted/measured - 1.", validate.MetricLatency)
	var rows [][]string
	for i := range d.Groups {
		g := &d.Groups[i]
		rows = append(rows, append([]string{g.Key["table"], g.Key["gpu"], g.Key["kind"]}, errorCells(&g.Errors)...))
	}
	p.Table(append([]Column{Left("table"), Left("gpu"), Left("kind")}, errorColumns...), rows)
	if len(d.Farthest) > 0 {
		var far [][]string
		for _, s := range d.Farthest {
			far = append(far, []string{s.ID, s.GPU, s.Model, fmt.Sprintf("%.4g", s.Measured), fmt.Sprintf("%.4g", s.Predicted), fmt.Sprintf("%.2f", s.Ratio())})
		}
		p.Line("")
		p.Heading("Farthest off, in milliseconds")
		p.Table([]Column{Left("table#row"), Left("gpu"), Left("kind"), Right("measured"), Right("predicted"), Right("ratio")}, far)
	}
	skippedByReason(p, d)
}

// skippedByReason prints every reason once, with its first row and the number of rows.
func skippedByReason(p *Page, d *validate.Document) {
	count := map[string]int{}
	for _, s := range d.Skipped {
		count[s.Reason]++
	}
	if len(count) == 0 {
		return
	}
	p.Line("")
	p.Heading("Skipped")
	for _, s := range d.Skipped {
		n := count[s.Reason]
		if n == 0 {
			continue
		}
		count[s.Reason] = 0
		who := s.ID
		if n > 1 {
			who = fmt.Sprintf("%s and %d more", s.ID, n-1)
		}
		p.Text(2, "%s: %s", who, s.Reason)
	}
}
