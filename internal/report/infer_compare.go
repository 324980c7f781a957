package report

import (
	"fmt"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// inferVariants sets the best points of all variants beside each other.
func inferVariants(p *Page, a *api.InferAnswer) {
	if len(a.Outcomes) < 2 {
		return
	}
	title := "The best of each variant" + underText(a)
	if len(a.Request.Concurrency) == 1 {
		title = fmt.Sprintf("The variants, each with %s in flight", Plural(int64(a.Request.Concurrency[0]), "request"))
	}
	p.section("%s", title)
	columns := []Column{Left("variant"), Right("in flight"), Right("TTFT"), Right("TPOT"), Right("tok/s/GPU"), Right("USD/M tok"), Left("binds"), Left("plan")}
	var rows [][]string
	for _, o := range a.Outcomes {
		b := o.Best
		t := times(b)
		rows = append(rows, []string{variantName(a, o.Variant, true), inFlight(a, b), t[0], t[1], t[4], perMillion(b), boundCell(b), b.String()})
	}
	p.planTable(withoutEmpty(columns, rows))
}

func underText(a *api.InferAnswer) string {
	if a.Request.SLO.Any() {
		return " under the objective"
	}
	return ""
}

// mostFront is how many points of the Pareto front a page lists.
const mostFront = 16

// inferFront lists the Pareto front over all variants, thinned where it is long.
func inferFront(p *Page, a *api.InferAnswer) {
	if len(a.Front) < 2 || !a.Searched() {
		return // the points of one layout stand in the table of loads
	}
	p.section("Pareto front: no deployment gives a user and a GPU more at once")
	columns := []Column{Right("tok/s/user"), Right("tok/s/GPU"), Right("TTFT"), Right("in flight"), Right("GPUs"), Right("USD/M tok"), Left("variant"), Left("plan")}
	var rows [][]string
	for _, i := range thinned(len(a.Front), mostFront) {
		x := a.Front[i]
		rows = append(rows, []string{rate(x.PerUser()), rate(x.PerGPU()), unit.FormatSeconds(x.TTFT), Grouped(int64(x.Concurrency)), strconv.Itoa(x.Layout.GPUs()),
			perMillion(x.Point), variantName(a, x.Variant, true), x.String()})
	}
	p.planTable(withoutEmpty(columns, rows))
	if n := len(a.Front); n > mostFront {
		p.Text(0, "%d of %d points; --json lists all.", mostFront, n)
	}
}

// thinned are at most most indices below n, the ends among them, evenly apart.
func thinned(n, most int) (list []int) {
	if n <= most {
		for i := range n {
			list = append(list, i)
		}
		return list
	}
	for i := range most {
		list = append(list, i*(n-1)/(most-1))
	}
	return list
}

// withoutEmpty drops columns that have no cell with text.
func withoutEmpty(columns []Column, rows [][]string) ([]Column, [][]string) {
	var keptColumns []Column
	kept := make([][]string, len(rows))
	for c := range columns {
		used := false
		for _, r := range rows {
			used = used || r[c] != ""
		}
		if !used {
			continue
		}
		keptColumns = append(keptColumns, columns[c])
		for i, r := range rows {
			kept[i] = append(kept[i], r[c])
		}
	}
	return keptColumns, kept
}

// inferStrategies shows what single changes to the best deployment do.
func inferStrategies(p *Page, a *api.InferAnswer) {
	if len(a.Strategies) == 0 {
		return
	}
	b := a.Best.Best
	p.section("What each strategy changes: the best deployment with one thing different, at the same load")
	var rows [][]string
	for _, s := range a.Strategies {
		row := []string{s.Name, "does not fit", "", "", ""}
		if x := s.Point; x != nil {
			row = []string{s.Name, unit.FormatSeconds(x.TTFT), unit.FormatSeconds(x.TPOT), rate(x.PerGPU()), fmt.Sprintf("%+.0f %%", 100*(x.PerGPU()/b.PerGPU()-1))}
		}
		rows = append(rows, row)
	}
	p.Table([]Column{Left("change"), Right("TTFT"), Right("TPOT"), Right("tok/s/GPU"), Right("output")}, rows)
}
