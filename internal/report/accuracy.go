package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/validate"
)

// Accuracy prints every kind's errors beside the targets.
func Accuracy(p *Page, a *validate.Accuracy) {
	p.Heading("Errors of predictions, |predicted/measured - 1|: median, mean")
	var columns []Column
	for i, h := range targetHead {
		if i == 0 || h == "" {
			columns = append(columns, Left(h))
		} else {
			columns = append(columns, Right(h))
		}
	}
	rows := targetRows(a, "missed")
	p.Table(columns, rows)
	if left := leftOutTargets(a, "missed"); len(left) > 0 {
		p.Line("")
		p.Heading("The same with constants that did not see the row's model, GPU, engine or framework")
		p.Table([]Column{Left("what"), Left("left out"), Right("n"), Right("median"), Right("mean"), Right("target"), Right("mean"), Left("")}, left)
	}
	for _, m := range a.Missing {
		p.Text(0, "Not in the folder: %s", m)
	}
	for _, f := range a.Failed {
		p.Text(0, "Not read: %s", f)
	}
	for _, k := range a.Kinds() {
		if n := len(k.Skipped); n > 0 {
			p.Text(0, "Left out of %s, with %d of %d rows scored: %s", k.Name, k.Scored, k.Rows, k.LeftOutWords(n))
		}
	}
}

// targetHead is the head of targetRows.
var targetHead = []string{"what", "fitted to", "n", "as fitted", "a fifth of rows left out, or half of the requests", "of services or jobs", "target", ""}

// targetRows are the cells of the targets' table: medians and means as fitted and cross-validated.
func targetRows(a *validate.Accuracy, missed string) [][]string {
	var rows [][]string
	for i := range a.Targets {
		t := &a.Targets[i]
		both := func(median, mean float64) string {
			if t.TargetMean == 0 {
				return percent(median)
			}
			return percent(median) + ", " + percent(mean)
		}
		cells := []string{t.What, t.Fitted, strconv.Itoa(t.N), both(t.Median, t.Mean), "", "", both(t.TargetMedian, t.TargetMean), missed}
		for _, c := range t.Cross {
			at := 5
			if c.What == validate.CutRow || c.What == validate.CutHalf {
				at = 4
			}
			cells[at] = both(c.Median, c.Mean)
		}
		if t.Met() {
			cells[7] = ""
		}
		rows = append(rows, cells)
	}
	return rows
}

// leftOutTargets are the cells of the targets on rows whose model, GPU, engine or framework no
// constant saw.
func leftOutTargets(a *validate.Accuracy, missed string) [][]string {
	var rows [][]string
	for i := range a.Targets {
		t := &a.Targets[i]
		for k := range t.LeftOut {
			l := &t.LeftOut[k]
			cells := []string{t.What, l.What, strconv.Itoa(l.N), percent(l.Median), percent(l.Mean), percent(t.TargetMedian), percent(t.TargetMean), missed}
			if t.MetLeftOut(l) {
				cells[7] = ""
			}
			rows = append(rows, cells)
		}
	}
	return rows
}

// AccuracyBlocks are the tables of the accuracy document in Markdown, by their names.
// stamp says when and with which version they were written.
func AccuracyBlocks(a *validate.Accuracy, stamp string) map[string]string {
	b := map[string]string{"targets": stamp + "\n\n" + markdown(targetHead, targetRows(a, "**missed**")) + "\n" + timesLine(a), "ranges": rangesBlock()}
	if rows := leftOutTargets(a, "**missed**"); len(rows) > 0 {
		b["targets-left-out"] = markdown([]string{"what", "left out", "n", "median", "mean", "target median", "mean", ""}, rows)
	}
	if d := a.Training; d != nil {
		if len(d.LeftOut) > 0 {
			b["left-out"] = markdown(leftOutHead, leftOutRows(d))
		}
		b["farthest"] = markdown([]string{"run", "model", "GPU", "measured", "predicted", "off by", "plan"}, farthestRows(d))
		b["training"] = markdown([]string{"source", "GPU", "precision", "FFN", "n", "median", "mean", "p90", "bias", "memory"}, trainingRows(d))
		b["training-models"] = markdown([]string{"model", "FFN", "n", "median", "mean", "p90", "bias", "memory"}, trainingGroups(d, fewRuns, "model", "ffn"))
		b["training-layouts"] = markdown([]string{"layout", "FFN", "n", "median", "mean", "p90", "bias", "memory"}, trainingGroups(d, fewRuns, "layout", "ffn"))
	}
	if d := a.Operators; d != nil {
		b["kernels"] = markdown([]string{"kind", "GPU", "table", "n", "median", "mean", "p90", "bias"}, kernelRows(d))
	}
	if d := a.Serving; d != nil {
		if s := validate.StoredLeftOut(); s.Rows == d.Rows {
			b["serving-left-out"] = writtenLine(s) + "\n\n" +
				markdown([]string{"left out", "runs of", "n", "TPOT median", "mean", "bias", "in range", "TTFT median", "mean", "in range"}, servingLeftOutRows(s))
		}
		b["serving"] = markdown([]string{"group", "n", "TPOT median", "mean", "bias", "TTFT median", "mean", "bias"}, servingRows(d))
	}
	if len(a.Requests) > 0 {
		b["requests"] = markdown([]string{"run", "TPOT mean", "p99", "TTFT mean", "p99", "E2E mean", "p99"}, requestRows(a))
		if rows := requestHalves(a); len(rows) > 0 {
			b["requests-left-out"] = markdown([]string{"run", "fitted to the other half", "n", "TPOT mean", "TTFT mean", "p99"}, rows)
		}
	}
	return b
}

func timesLine(a *validate.Accuracy) string {
	var words []string
	for _, k := range []string{"operators", "serving", "training", "requests"} {
		if s, ok := a.Seconds[k]; ok {
			words = append(words, fmt.Sprintf("%s %.1f s", k, s))
		}
	}
	return "Time to predict: " + strings.Join(words, ", ") + ".\n"
}

// trainingRows are the groups by source behind the row of all runs.
func trainingRows(d *validate.Document) [][]string {
	all, memory := d.Metrics[validate.MetricThroughput], d.Metrics[validate.MetricMemory]
	return append([][]string{withMemory(append([]string{"all", "", "", ""}, errorCells(&all)...), &memory)}, trainingGroups(d, 1, "source", "gpu", "precision", "ffn")...)
}

// farthestRows are the single training runs farthest off, so that no list of them goes stale.
func farthestRows(d *validate.Document) [][]string {
	var rows [][]string
	for _, s := range d.Worst(worstRows) {
		rows = append(rows, []string{s.ID, s.Model, s.GPU, fmt.Sprintf("%.4g", s.Measured), fmt.Sprintf("%.4g", s.Predicted),
			fmt.Sprintf("%+.0f %%", 100*(s.Ratio()-1)), strings.ReplaceAll(s.Plan, ",", " ")})
	}
	return rows
}

var leftOutHead = []string{"left out", "which", "FFN", "n", "median", "mean", "p90", "bias"}

// fewRuns leaves single models, GPUs, layouts and frameworks of fewer runs out of the tables.
const fewRuns = 3

// leftOutWord words what is left out of a fit.
func leftOutWord(what string) string {
	switch what {
	case validate.CutRow, validate.CutService, validate.CutJob:
		return "a fifth of " + what + "s"
	}
	return what
}

func leftOutRows(d *validate.Document) [][]string {
	var rows [][]string
	for i := range d.LeftOut {
		g := &d.LeftOut[i]
		if g.Key["which"] != "each" && (g.N < fewRuns || g.Key["left_out"] == "model") {
			continue
		}
		rows = append(rows, append([]string{leftOutWord(g.Key["left_out"]), g.Key["which"], g.Key["ffn"]}, errorCells(&g.Errors)...))
	}
	return rows
}

func kernelRows(d *validate.Document) [][]string {
	var rows [][]string
	for i := range d.Groups {
		g := &d.Groups[i]
		name := g.Key["table"]
		name = strings.TrimSuffix(name[strings.LastIndex(name, "/")+1:], "_perf.parquet")
		rows = append(rows, append([]string{g.Key["kind"], g.Key["gpu"], name}, errorCells(&g.Errors)...))
	}
	return rows
}

// leastLayout leaves layouts and concurrencies of fewer runs out of the document.
const leastLayout = 50

func servingRows(d *validate.Document) [][]string {
	row := func(label string, e, t *validate.Errors) []string {
		cells := []string{label, strconv.Itoa(e.N), percent(e.MedianAPE), percent(e.MAPE), fmt.Sprintf("%+.1f %%", 100*e.Bias), "", "", ""}
		if t != nil {
			cells[5], cells[6], cells[7] = percent(t.MedianAPE), percent(t.MAPE), fmt.Sprintf("%+.1f %%", 100*t.Bias)
		}
		return cells
	}
	tpot, ttft := d.Metrics[validate.MetricTPOT], d.Metrics[validate.MetricTTFT]
	rows := [][]string{row("all", &tpot, &ttft)}
	for i := range d.Groups {
		g := &d.Groups[i]
		if (g.Key["layout"] != "" || g.Key["concurrency"] != "") && g.N < leastLayout {
			continue
		}
		rows = append(rows, row(groupLabel(g), &g.Errors, g.TTFT))
	}
	return rows
}

func requestRows(a *validate.Accuracy) [][]string {
	var rows [][]string
	for _, r := range a.Requests {
		cells := []string{r.Run}
		for _, m := range []string{validate.MetricTPOT, validate.MetricTTFT, validate.MetricE2E} {
			if s := r.Metrics[m].Spread; s != nil {
				cells = append(cells, percent(s.Mean), percent(s.P99))
			} else {
				cells = append(cells, "", "")
			}
		}
		rows = append(rows, cells)
	}
	return rows
}

// markdown is a table of Markdown.
func markdown(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(head)))
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// accuracyBlocks are the names of AccuracyBlocks.
var accuracyBlocks = []string{"targets", "targets-left-out", "training", "training-models", "training-layouts", "farthest", "left-out", "ranges", "kernels", "serving", "serving-left-out", "requests", "requests-left-out"}

// ReplaceBlocks puts the blocks into a document, each between the lines
// <!-- begin NAME --> and <!-- end NAME -->; a name without a block keeps what it holds. A
// document that has none of the names of AccuracyBlocks, or a beginning without an end, is an error.
func ReplaceBlocks(text string, blocks map[string]string) (string, error) {
	found := 0
	for _, name := range accuracyBlocks {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		if !ok {
			continue
		}
		_, after, ok := strings.Cut(rest, end)
		if !ok {
			return "", fmt.Errorf("%q has no %q after it: add the line", strings.TrimSpace(begin), end)
		}
		found++
		if block, ok := blocks[name]; ok {
			text = before + begin + "\n" + block + "\n" + end + after
		}
	}
	if found == 0 {
		return "", fmt.Errorf("no line <!-- begin NAME --> for a table: add it and <!-- end NAME -->, for example for targets")
	}
	return text, nil
}
