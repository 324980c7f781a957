package report

import (
	"fmt"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Ratio draws output per GPU over the workers of both roles, and the best pair.
func Ratio(p *Page, a *api.RatioAnswer) {
	r := a.Request
	split := r.Plan.Disaggregated()
	p.Heading("Serving %s on %s: prefill against decode workers", r.Model.Name, a.Variant.Cluster.Name)
	p.Facts(
		[2]string{"workers", fmt.Sprintf("prefill %s, decode %s", split.Prefill.String(), split.Decode.String())},
		[2]string{"requests", lengthsText(r)},
		[2]string{"objective", objectiveText(r.SLO)})
	best := a.Best()
	x := best.Point
	switch {
	case !x.Fits:
		p.section("Verdict: nothing fits")
		p.Text(0, "An instance needs %s per GPU of %s usable.", unit.FormatGB(x.Need), unit.FormatGB(x.Memory.Budget))
		return
	case !best.Met:
		p.section("Verdict: no pair meets the objective; most output gives")
	default:
		p.section("Verdict: the pair with most output per GPU")
	}
	p.Line("  %s, %s", Plural(int64(best.Prefill), "prefill worker"), Plural(int64(best.Decode), "decode worker"))
	t := times(x)
	p.Facts(
		[2]string{"size", sizeText(x)},
		[2]string{"one user", fmt.Sprintf("first token after %s, then %s per token", t[0], t[1])},
		[2]string{"service", fmt.Sprintf("%s output tokens/s per GPU", t[4])},
		[2]string{"cost", costText(x)},
		[2]string{"binds", boundWords(x)})
	p.section("Output tokens/s per GPU: rows are prefill workers, columns decode workers")
	p.Table(ratioTable(a))
	if r.SLO.Any() && best.Met {
		p.Text(0, "* meets the objective.")
	}
	if r.SLO.Any() && a.Listed {
		p.Text(0, "Each pair stands for one of the loads listed: which pair is best depends on them. Without --concurrency the best load of each between powers of two is looked for.")
	}
	if max(len(a.Prefill), len(a.Decode)) > ratioWide {
		p.Text(0, "Numbers between those shown were priced, too: --json lists all.")
	}
	if len(a.Cells) < len(a.Prefill)*len(a.Decode) {
		p.Text(0, "Empty: the cluster does not hold so many workers.")
	}
}

// ratioWide is the most numbers of workers that fit side by side on a page.
const ratioWide = 8

// shownWorkers is the numbers of workers that the table shows: of more than fit, every
// one up to 4, every other one up to 8, every fourth above, and the best pair's.
func shownWorkers(all []int, best int) (shown []int) {
	for _, n := range all {
		if len(all) <= ratioWide || n <= 4 || n <= 8 && n%2 == 0 || n%4 == 0 || n == best {
			shown = append(shown, n)
		}
	}
	return shown
}

// ratioTable has a row for each number of prefill workers.
func ratioTable(a *api.RatioAnswer) ([]Column, [][]string) {
	columns := []Column{Right("")}
	best := a.Best()
	decode := shownWorkers(a.Decode, best.Decode)
	for _, d := range decode {
		columns = append(columns, Right(strconv.Itoa(d)))
	}
	var rows [][]string
	for _, n := range shownWorkers(a.Prefill, best.Prefill) {
		row := []string{strconv.Itoa(n)}
		for _, d := range decode {
			row = append(row, ratioCell(a, n, d))
		}
		rows = append(rows, row)
	}
	return columns, rows
}

func ratioCell(a *api.RatioAnswer, prefill, decode int) string {
	for i := range a.Cells {
		c := &a.Cells[i]
		switch {
		case c.Prefill != prefill || c.Decode != decode:
		case !c.Point.Fits:
			return "does not fit"
		case c.Met && a.Request.SLO.Any():
			return rate(c.Point.PerGPU()) + " *"
		case a.Request.SLO.Any():
			return rate(c.Point.PerGPU()) + "  "
		default:
			return rate(c.Point.PerGPU())
		}
	}
	return ""
}

// UnmetRatio says in one line why no pair is an answer; "" where one is.
func UnmetRatio(a *api.RatioAnswer) string {
	switch c := a.Best(); {
	case !c.Point.Fits:
		return fmt.Sprintf("no pair of workers fits: an instance needs %s of %s usable", unit.FormatGB(c.Point.Need), unit.FormatGB(c.Point.Memory.Budget))
	case !c.Met:
		return fmt.Sprintf("no pair of workers meets %s: the one with most output has ttft=%s,tpot=%s", a.Request.SLO, compact(c.Point.TTFT), compact(c.Point.TPOT))
	}
	return ""
}
