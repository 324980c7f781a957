package report

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// trainFlips says at which value of which figure the verdict changes.
func trainFlips(p *Page, a *api.TrainAnswer) {
	if len(a.BreakEvens) == 0 || a.FSDP != nil && a.FSDP.Plan.String() == a.Best.Plan.String() {
		return // plain FSDP's are listed with it
	}
	p.section("What would change the verdict: the plan is bound by %s until", boundName(a.BreakEvens[0].Bound))
	flipTable(p, a.BreakEvens)
}

func flipTable(p *Page, list []advise.BreakEven) {
	var rows [][]string
	for _, b := range list {
		row := []string{b.What, inUnit(b.Now, b.Unit), "", "", "no value within 1,000 times flips it"}
		if b.Flip > 0 {
			row[2], row[3], row[4] = inUnit(b.Flip, b.Unit), fmt.Sprintf("x %.3g", b.Flip/b.Now), flipText(&b)
		}
		rows = append(rows, row)
	}
	p.Table([]Column{Left("figure"), Right("now"), Right("flips at"), Right(""), Left("then bound by")}, rows)
	for _, b := range list {
		if b.Note != "" {
			p.Text(0, "At %s (%s): %s.", inUnit(b.Flip, b.Unit), b.What, b.Note)
		}
	}
}

// flipText says on which side of the flip what binds.
func flipText(b *advise.BreakEven) string {
	side := "below"
	if b.Flip > b.Now {
		side = "above"
	}
	return fmt.Sprintf("%s: %s", side, boundName(b.Next))
}

// inUnit prints an SI value of a break-even.
func inUnit(v float64, u string) string {
	switch u {
	case "B/s":
		return unit.FormatByteRate(unit.ByteRate(v))
	case "FLOP/s":
		return unit.FormatFLOPRate(unit.FLOPRate(v))
	case "tokens":
		return whole(v)
	}
	return fmt.Sprintf("%.4g %s", v, u)
}

// trainPrecisions compares the plan's layout by precision.
func trainPrecisions(p *Page, a *api.TrainAnswer) {
	if len(a.Precisions) < 2 {
		return
	}
	p.section("The same layout by precision")
	var rows [][]string
	bounds := map[string]bool{}
	for _, x := range a.Precisions {
		c := &x.Result.Ceilings
		rows = append(rows, []string{x.Precision, sec(x.Result.Step), secOrNone(c.Compute), secOrNone(c.HBM), secOrNone(c.NVLink), secOrNone(c.Network),
			fmt.Sprintf("%.2f", x.Ratio), boundName(x.Result.Bound) + misfit(x.Result.Fits)})
		bounds[boundName(x.Result.Bound)] = true
	}
	p.Table([]Column{Left("precision"), Right("step"), Right("compute"), Right("HBM"), Right("scale-up"), Right("network"), Right("link/compute"), Left("bound")}, rows)
	p.Text(0, "Narrower formats shorten compute more than communication. %s", verdictByPrecision(a.Precisions, len(bounds) > 1))
}

func secOrNone(t unit.Seconds) string {
	if t == 0 {
		return ""
	}
	return sec(t)
}

func misfit(fits bool) string {
	if fits {
		return ""
	}
	return ", does not fit"
}

// verdictByPrecision groups the precisions by what binds.
func verdictByPrecision(list []advise.ByPrecision, flips bool) string {
	if !flips {
		return fmt.Sprintf("The verdict does not flip: bound by %s in all of them.", boundName(list[0].Result.Bound))
	}
	var order []string
	groups := map[string][]string{}
	for _, x := range list {
		b := boundName(x.Result.Bound)
		if groups[b] == nil {
			order = append(order, b)
		}
		groups[b] = append(groups[b], x.Precision)
	}
	var parts []string
	for _, b := range order {
		parts = append(parts, fmt.Sprintf("%s in %s", b, strings.Join(groups[b], ", ")))
	}
	return "The verdict flips: bound by " + strings.Join(parts, "; by ") + "."
}
