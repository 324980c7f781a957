package report

import (
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// trainVersus holds the named plan against the best of the whole space.
func trainVersus(p *Page, a *api.TrainAnswer) {
	r, o := a.Best, a.Overall
	if o == nil {
		return
	}
	what := "best plan of the whole space"
	if a.Request.Against != nil {
		what = "plan of --against"
	}
	if r.Plan.String() == o.Plan.String() {
		p.section("The %s is the same one", what)
		return
	}
	p.section("Against the %s", what)
	p.planLine(2, o.Plan.String())
	if a.WhyNot != "" {
		p.Text(0, "Why not the named plan: %s.", a.WhyNot)
	}
	p.Line("")
	p.Table([]Column{Left(""), Right("named"), Right("best"), Right("difference")}, versusRows(r, o))
}

func versusRows(r, o *train.Result) [][]string {
	rows := [][]string{secondsRow("step", r.Step, o.Step), secondsRow("  kernels", r.Kernels(), o.Kernels())}
	for w := range train.NumWaits {
		if max(r.Waits[w], o.Waits[w]) >= least {
			rows = append(rows, secondsRow("  "+waitText[w], r.Waits[w], o.Waits[w]))
		}
	}
	total, best := r.Memory.Total(), o.Memory.Total()
	return append(rows,
		[]string{"memory", unit.FormatGB(total), unit.FormatGB(best), bytesDiff(total, best)},
		[]string{"MFU", unit.FormatPercent(r.MFU()), unit.FormatPercent(o.MFU()), ""},
		[]string{"bound by", boundName(r.Bound), boundName(o.Bound), ""},
		[]string{"fits", yes(r.Fits), yes(o.Fits), ""})
}

func secondsRow(name string, a, b unit.Seconds) []string {
	diff := ""
	if abs(a-b) >= least {
		diff = sign(a > b) + sec(abs(a-b))
	}
	return []string{name, sec(a), sec(b), diff}
}

// bytesDiff is empty where the printed digits agree.
func bytesDiff(a, b unit.Bytes) string {
	if unit.FormatGB(a) == unit.FormatGB(b) {
		return ""
	}
	return sign(a > b) + unit.FormatGB(abs(a-b))
}

func abs[T int | unit.Seconds | unit.Bytes](v T) T { return max(v, -v) }

func sign(more bool) string {
	if more {
		return "+"
	}
	return "-"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
