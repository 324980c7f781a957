package report

import (
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
	p.ownLimit(a)
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
	if x.OwnLimit() > 0 {
		return x.Bound + " (sequences)"
	}
	return x.Bound
}

// ownLimit says what the engine's own limit of sequences is where a point waits for it.
func (p *Page) ownLimit(a *api.InferAnswer) {
	for _, o := range a.Outcomes {
		for _, x := range o.Points {
			if most := x.OwnLimit(); most > 0 {
				p.Text(0, "queue (sequences): the engine generates for %s sequences a replica at once; --max-sequences, of an instance, lets it take more.", Grouped(most))
				return
			}
		}
	}
}
