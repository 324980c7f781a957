package report

import (
	"fmt"
	"slices"
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
	columns := func(names ...string) (list []Column) {
		for _, n := range names {
			list = append(list, Left(n))
		}
		return append(append(list, errorColumns...), Right("memory"))
	}
	p.Table(columns("source", "gpu", "precision", "ffn"), trainingGroups(d, 1, "source", "gpu", "precision", "ffn"))
	p.Line("")
	p.Table(columns("model or layout", "ffn"), slices.Concat(trainingGroups(d, 1, "model", "ffn"), trainingGroups(d, 1, "layout", "ffn")))
	if len(d.LeftOut) > 0 {
		p.Line("")
		p.Heading("Constants fitted again without the model, the GPU or the framework of each run, or a fifth of all")
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

// trainingGroups are the cells of the groups that have the first key and at least so many runs.
func trainingGroups(d *validate.Document, least int, keys ...string) (rows [][]string) {
	for i := range d.Groups {
		g := &d.Groups[i]
		if g.Key[keys[0]] == "" || g.N < least {
			continue
		}
		var cells []string
		for _, k := range keys {
			cells = append(cells, g.Key[k])
		}
		rows = append(rows, withMemory(append(cells, errorCells(&g.Errors)...), g.Memory))
	}
	return rows
}

// withMemory adds the median error of memory, empty of none.
func withMemory(cells []string, memory *validate.Errors) []string {
	if memory == nil {
		return append(cells, "")
	}
	return append(cells, percent(memory.MedianAPE))
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
			p.Text(0, "The 80 %% ranges of %s hold %s of the measurements%s.", name, percent(*e.Coverage), rangeless(d, name))
		}
	}
	p.Line("")
}

// rangeless tells how many measurements have no range: mean first tokens past what the cache holds,
// of which nobody knows how far they vary.
func rangeless(d *validate.Document, metric string) string {
	n := 0
	for i := range d.Predictions {
		if s := &d.Predictions[i]; metric == validate.MetricTTFT && s.TTFTMeasured != nil && s.TTFTRange == nil {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" that have one (past the load where queueing takes over none is stated: %d of the rows)", n)
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
