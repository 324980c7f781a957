package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// trainRanked lists the best plans.
func trainRanked(p *Page, a *api.TrainAnswer) {
	if len(a.Plans) < 2 {
		return
	}
	among := ""
	if named(a) {
		among = " with the named keys"
	}
	p.section("The best %d plans%s", len(a.Plans), among)
	var rows [][]string
	for i, r := range a.Plans {
		rows = append(rows, []string{strconv.Itoa(i + 1), sec(r.Step), unit.FormatPercent(r.MFU()), unit.FormatGB(r.Memory.Total()),
			string(r.Bound), r.Plan.String()})
	}
	p.planTable([]Column{Right("#"), Right("step"), Right("MFU"), Right("memory"), Left("bound"), Left("plan")}, rows)
}

// trainRejected says why the plans that people would try first are not the
// answer, and counts what is not legal.
func trainRejected(p *Page, a *api.TrainAnswer) {
	others := slices.DeleteFunc(slices.Clone(a.Alternatives), func(x advise.Alternative) bool {
		return x.Plan != nil && x.Plan.Plan.String() == a.Best.Plan.String()
	})
	if len(others) > 0 {
		p.section("Why not another way")
	}
	for i := range others {
		alternative(p, &others[i], reference(a))
	}
	if c := &a.Outcome.Count; illegalCount(c) > 0 {
		p.section("%s combinations are not legal", Grouped(illegalCount(c)))
		var rows [][]string
		for _, cause := range causes(&c.Illegal) {
			rows = append(rows, []string{Grouped(c.Illegal[cause]), cause.String()})
		}
		p.Table([]Column{Right(""), Left("")}, rows)
	}
}

// reference is what alternatives are held against: the best plan of the whole
// space, or nil when nothing fits.
func reference(a *api.TrainAnswer) *train.Result {
	r := a.Best
	if a.Overall != nil {
		r = a.Overall
	}
	if !r.Fits {
		return nil
	}
	return r
}

// causes lists the causes that occur, the most frequent first.
func causes(n *[plan.NumCauses]int64) []plan.Cause {
	var list []plan.Cause
	for c, k := range n {
		if k > 0 {
			list = append(list, plan.Cause(c))
		}
	}
	slices.SortStableFunc(list, func(a, b plan.Cause) int { return cmp.Compare(n[b], n[a]) })
	return list
}

func alternative(p *Page, x *advise.Alternative, best *train.Result) {
	p.Line("  %s", x.Name)
	reason := x.Reason
	if x.Plan == nil {
		p.indented(4, "no legal plan: "+reason)
		return
	}
	if reason == "" {
		reason = evenText(x.Plan, best)
	}
	p.indented(4, reason)
	p.planLine(4, x.Plan.Plan.String())
	for _, w := range x.Plan.Warnings.Texts() {
		p.indented(4, "note: "+w)
	}
}

// evenText words an alternative that lacks nothing.
func evenText(r, best *train.Result) string {
	switch {
	case best == nil:
		return fmt.Sprintf("would take %s per step", sec(r.Step))
	case r.Step == best.Step:
		return fmt.Sprintf("as fast as the best plan: %s", sec(r.Step))
	}
	return fmt.Sprintf("%s against %s", sec(r.Step), sec(best.Step))
}
