package report

import (
	"fmt"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// trainBudget prices the whole run.
func trainBudget(p *Page, a *api.TrainAnswer) {
	b, t := &a.Budget, &a.Request.Terms
	p.section("Budget%s", stepNote(a))
	facts := [][2]string{{"per trillion tokens", whole(b.HoursPerTrillion) + " GPU-hours"}}
	if t.Tokens > 0 {
		facts = append(facts, runFacts(a)...)
	}
	if b.DaysFailing > 0 {
		facts = append(facts, [2]string{"with failures", failureText(a)})
	}
	p.Facts(facts...)
	if t.Tokens == 0 {
		p.Text(0, "Add --tokens 1T --price 2 for the days and the cost of a run.")
	}
}

func stepNote(a *api.TrainAnswer) string {
	if s := a.Request.Terms.StepOverride; s > 0 {
		return fmt.Sprintf(" at the given step time of %s (estimate: %s)", sec(s), sec(a.Best.Step))
	}
	return " at the estimated step time"
}

func runFacts(a *api.TrainAnswer) [][2]string {
	b, t := &a.Budget, &a.Request.Terms
	facts := [][2]string{
		{"run", fmt.Sprintf("%s tokens, %s steps", unit.FormatCount(int64(t.Tokens)), whole(b.Steps))},
		{"GPU-hours", whole(b.GPUHours)},
		{"days", decimal(b.Days, 1)},
	}
	if t.Price > 0 {
		facts = append(facts, [2]string{"cost", fmt.Sprintf("%s at %s per GPU-hour", unit.FormatUSD(b.Cost), unit.FormatUSD(t.Price))})
	}
	if t.PowerPerGPU > 0 {
		facts = append(facts, [2]string{"energy", fmt.Sprintf("%s MWh at %s W per GPU", decimal(b.EnergyMWh, 1), decimal(t.PowerPerGPU, -1))})
	}
	return facts
}

func failureText(a *api.TrainAnswer) string {
	b, t := &a.Budget, &a.Request.Terms
	return fmt.Sprintf("%s days, %s of the time useful: one GPU fails every %s, one of them all every %s; a checkpoint every %s takes %s, a restart %s",
		decimal(b.DaysFailing, 1), unit.FormatPercent(b.Useful), hours(t.GPUMTBF), sec(t.GPUMTBF/unit.Seconds(a.Best.Plan.GPUs())),
		sec(b.Interval), sec(t.Checkpoint), sec(t.Restart))
}

func hours(t unit.Seconds) string { return decimal(float64(t)/3600, -1) + " h" }

func decimal(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

// trainNotes lists doubts: warnings first, then what was assumed for want of a
// measurement.
func trainNotes(p *Page, a *api.TrainAnswer) {
	c := a.Request.Cluster
	rows := noteRows(nil, "warning", a.Warnings.Texts())
	rows = noteRows(rows, "left out", a.Request.Model.Unsupported)
	rows = noteRows(rows, "assumed", a.Assumptions.Texts())
	rows = noteRows(rows, "assumed", assumedFigures(c))
	if c.Notes != "" {
		rows = noteRows(rows, "cluster", []string{c.Notes})
	}
	if len(rows) == 0 {
		return
	}
	p.section("Notes")
	p.Table([]Column{Left(""), Left("")}, rows)
}

func noteRows(rows [][]string, kind string, notes []string) [][]string {
	for _, n := range notes {
		rows = append(rows, []string{kind, n})
	}
	return rows
}

// assumedFigures names the machine's figures that nobody measured or published.
func assumedFigures(c *hw.Cluster) []string {
	var list []string
	for _, f := range clusterFigures(c) {
		if c.Nodes() == 1 && f.name != "scale-up" {
			continue
		}
		for _, x := range [...]hw.Figure{f.peak, f.achieved} {
			if x.Known() && x.Grade == hw.Assumed {
				list = append(list, fmt.Sprintf("%s %s: %s", f.name, formatFigure(x, f.si), x.Source))
			}
		}
	}
	return list
}
