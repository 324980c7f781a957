package search

import (
	"cmp"
	"slices"

	"github.com/ridgeline/ridgeline/internal/plan"
)

// Plans whose estimates differ by less than equalSteps are as good as each other,
// since no estimate is that exact: the simpler one goes first. A search keeps
// spare times as many plans as asked for, to choose among.
const (
	equalSteps = 0.001
	spare      = 4
)

// preferSimple reorders runs of equal plans in a list sorted by step.
func preferSimple(list []candidate) {
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].step <= list[from].step*(1+equalSteps) {
			to++
		}
		slices.SortStableFunc(list[from:to], func(a, b candidate) int {
			return cmp.Compare(parts(&a.plan), parts(&b.plan))
		})
		from = to
	}
}

// parts counts what a plan asks of its engine beyond plain data parallelism.
func parts(p *plan.Plan) int {
	n := 0
	for _, on := range [...]bool{p.TP > 1, p.CP > 1, p.PP > 1, p.VPP > 1, p.EP > 1, p.ETP > 1, p.ZeRO > 1, p.ShardGroup > 0,
		p.CPAllToAll, p.OffloadOptim, p.Recompute != plan.ReNone} {
		if on {
			n++
		}
	}
	return n
}
