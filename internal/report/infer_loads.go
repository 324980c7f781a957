package report

import (
	"fmt"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// inferLoads prints every load of the question, one table for each variant.
func inferLoads(p *Page, a *api.InferAnswer) {
	if len(a.Outcomes) > 1 && len(a.Request.Concurrency) == 1 {
		return // the table of variants says it all
	}
	for _, o := range a.Outcomes {
		name := variantName(a, o.Variant, true)
		if name != "" {
			name = ": " + name
		}
		if oneLayout(o.Points) {
			p.section("By requests in flight%s, as %s", name, o.Points[0].Layout.String())
		} else {
			p.section("The best layout by requests in flight%s", name)
		}
		p.loadTable(a, o.Points, oneLayout(o.Points))
	}
	if a.Request.SLO.Any() {
		p.Text(0, "* meets the objective.")
	}
}

// oneLayout tells whether all points have the same layout, which then need not be
// repeated.
func oneLayout(points []*deploy.Point) bool {
	for _, x := range points {
		if x.String() != points[0].String() {
			return false
		}
	}
	return len(points) > 0
}

// loadTable prints points, with their layouts unless hidden; what follows from
// other columns makes room for these.
func (p *Page) loadTable(a *api.InferAnswer, points []*deploy.Point, hidden bool) {
	columns := []Column{Right("in flight"), Right("TTFT"), Right("TPOT"), Right("tok/s/user"), Right("tok/s"), Right("tok/s/GPU"), Right("USD/M tok"),
		Left("binds"), Right("GPUs"), Left("plan")}
	var rows [][]string
	for _, x := range points {
		t := times(x)
		row := []string{inFlight(a, x), t[0], t[1], t[2], t[3], t[4], perMillion(x), boundCell(x), "", ""}
		if !hidden {
			row[3], row[8], row[9] = "", strconv.Itoa(x.Layout.GPUs()), x.String()
		}
		rows = append(rows, row)
	}
	p.planTable(withoutEmpty(columns, rows))
}

// inFlight marks the loads that meet the objective.
func inFlight(a *api.InferAnswer, x *deploy.Point) string {
	s := Grouped(int64(x.Concurrency))
	switch {
	case !a.Request.SLO.Any():
		return s
	case a.Request.SLO.Meets(x):
		return "* " + s
	}
	return s
}

// times are the cells of what user and operator see; empty where nothing fits.
func times(x *deploy.Point) []string {
	if !x.Fits {
		return make([]string, 5)
	}
	return []string{unit.FormatSeconds(x.TTFT), unit.FormatSeconds(x.TPOT), rate(x.PerUser()), rate(x.Output), rate(x.PerGPU())}
}

func perMillion(x *deploy.Point) string {
	usd, ok := x.Cost()
	if !ok {
		return ""
	}
	return decimal(usd, 2)
}

func boundCell(x *deploy.Point) string {
	if !x.Fits {
		return "does not fit"
	}
	return x.Bound
}

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
	columns := []Column{Right("tok/s/user"), Right("tok/s/GPU"), Right("in flight"), Right("GPUs"), Right("USD/M tok"), Left("variant"), Left("plan")}
	var rows [][]string
	for _, i := range thinned(len(a.Front), mostFront) {
		x := a.Front[i]
		rows = append(rows, []string{rate(x.PerUser()), rate(x.PerGPU()), Grouped(int64(x.Concurrency)), strconv.Itoa(x.Layout.GPUs()),
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
