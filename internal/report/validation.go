package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/validate"
)

// worstRows is how many single runs a validation lists.
const worstRows = 10

// Validation prints the errors of a validation: over all runs, by group, the
// worst single runs, and what was skipped.
func Validation(p *Page, d *validate.Document) {
	scored(p, d, "Errors are |predicted/measured - 1|; bias is the median of predicted/measured - 1.",
		validate.MetricThroughput, validate.MetricMemory)
	var rows [][]string
	for i := range d.Groups {
		g := &d.Groups[i]
		cells := append([]string{g.Key["source"], g.Key["gpu"], g.Key["precision"], g.Key["ffn"]}, errorCells(&g.Errors)...)
		memory := ""
		if g.Memory != nil {
			memory = percent(g.Memory.MedianAPE)
		}
		rows = append(rows, append(cells, memory))
	}
	columns := append([]Column{Left("source"), Left("gpu"), Left("precision"), Left("ffn")}, errorColumns...)
	p.Table(append(columns, Right("memory")), rows)
	if len(d.LeftOut) > 0 {
		p.Line("")
		p.Heading("Constants fitted again without the model, the GPU or the framework of each run")
		p.Table(append([]Column{Left("left out"), Left("which"), Left("ffn")}, errorColumns...), leftOutRows(d))
	}
	for _, n := range d.LeftOutNotes {
		p.Text(0, "%s", n)
	}
	worst(p, d)
	for i, s := range d.Skipped {
		if i == 0 {
			p.Line("")
			p.Heading("Skipped")
		}
		p.Text(2, "%s: %s", s.ID, s.Reason)
	}
}

var errorColumns = []Column{Right("n"), Right("median"), Right("mean"), Right("p90"), Right("bias")}

// scored prints how much of the input was scored, what the errors are of, and
// those of each metric that has any.
func scored(p *Page, d *validate.Document, of string, metrics ...string) {
	unread := ""
	if d.Unread > 0 {
		unread = fmt.Sprintf(", %d of %d tables not read", d.Unread, d.Tables)
	}
	p.Heading("%d of %d rows scored%s", d.Scored, d.Rows, unread)
	p.Text(0, "%s", of)
	p.Line("")
	var rows [][]string
	for _, name := range metrics {
		if e := d.Metrics[name]; e.N > 0 {
			rows = append(rows, append([]string{name}, errorCells(&e)...))
		}
	}
	p.Table(append([]Column{Left("metric")}, errorColumns...), rows)
	for _, name := range metrics {
		if e := d.Metrics[name]; e.Coverage != nil {
			p.Text(0, "The 80 %% ranges of %s hold %s of the measurements.", name, percent(*e.Coverage))
		}
	}
	p.Line("")
}

func errorCells(e *validate.Errors) []string {
	return []string{strconv.Itoa(e.N), percent(e.MedianAPE), percent(e.MAPE), percent(e.P90APE), fmt.Sprintf("%+.1f %%", 100*e.Bias)}
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func worst(p *Page, d *validate.Document) {
	var rows [][]string
	for _, s := range d.Worst(worstRows) {
		rows = append(rows, []string{s.ID, s.Model, s.GPU, fmt.Sprintf("%.4g", s.Measured), fmt.Sprintf("%.4g", s.Predicted), fmt.Sprintf("%.2f", s.Ratio()), strings.ReplaceAll(s.Plan, ",", " ")})
	}
	if len(rows) == 0 {
		return
	}
	p.Line("")
	p.Heading("Farthest off, in tokens per second and GPU")
	p.Table([]Column{Left("id"), Left("model"), Left("gpu"), Right("measured"), Right("predicted"), Right("ratio"), Left("plan")}, rows)
}
