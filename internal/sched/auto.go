package sched

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// strategy is one way for the greedy scheduler to break its choices; automatic
// tries them all and keeps the shortest step.
type strategy struct {
	forwardFirst bool    // of a forward and a backward that are both ready
	holdWarmup   bool    // no forward that would push the first backward back
	fill         float64 // a W fills a gap of at least this share of its length
	fillWorst    bool    // and any gap on the rank that has idled most so far
}

// strategies spans the choices of the heuristic of arXiv:2401.10241 section 3.1.
var strategies = func() (all []strategy) {
	for _, forward := range []bool{false, true} {
		for _, hold := range []bool{false, true} {
			for _, fill := range []float64{1, 0.5, 0} {
				for _, worst := range []bool{false, true} {
					if fill > 0 || !worst {
						all = append(all, strategy{forward, hold, fill, worst})
					}
				}
			}
		}
	}
	return all
}()

// automatic is the order of zb-1p and zb-2p: under a limit of p or 2p
// micro-batches per rank it fills the bubbles that the times of s leave, by a
// greedy run for every strategy. ZB-H1 or ZB-H2, which keep the same limit, are
// candidates too, so it is never slower than them.
//
//	0 F0--F1--F2--.........B0--W0--F3--B1--W1--F4--B2--W2--F5--B3--W3---B4--W4--B5--W5--
//	1 ....F0--F1--....B0---F2--B1--W0--F3--B2--W1--F4--B3--W2--F5--B4---W3--B5--W4--W5--
//	2 ........F0--B0--F1---B1--F2--B2--W0--F3--B3--W1--F4--B4--W2--F5---B5--W3--W4--W5--
//	  0                                                                             20 s
//	F forward  B backward  W weight gradient  . idle  number: micro-batch
//
//	0 F0--F1--F2--F3--F4---B0--W0--F5--B1--W1--B2--W2--B3--W3--B4--W4---B5--W5--........
//	1 ....F0--F1--F2--B0---F3--B1--F4--B2--W0--F5--B3--W1--B4--W2--B5---W3--W4--W5--....
//	2 ........F0--B0--F1---B1--F2--B2--F3--B3--F4--B4--W0--F5--B5--W1---W2--W3--W4--W5--
//	  0                                                                             20 s
//	F forward  B backward  W weight gradient  . idle  number: micro-batch
func automatic(s *Spec) [][]item {
	g := newGreedy(s)
	best, bestStep := -1, unit.Seconds(math.Inf(1))
	optimal := LowerBound(s) * (1 + 3*roundingSlack)
	for i, st := range strategies {
		if bestStep <= optimal {
			break
		}
		if g.run(st, nil); g.step() < bestStep {
			best, bestStep = i, g.step()
		}
	}
	hand := *s
	hand.Kind = ZBH1
	if s.Kind == ZB2P {
		hand.Kind = ZBH2
	}
	if step, err := Makespan(&hand); err == nil && step <= bestStep {
		return lists(&hand)
	}
	order := make([][]item, s.Stages)
	for r := range order {
		order[r] = make([]item, 0, 3*s.MicroBatches)
	}
	g.run(strategies[best], order)
	return order
}

// limit is how many micro-batches a rank of an automatic kind may hold.
func (k Kind) limit(stages int) int {
	if k == ZB2P {
		return 2 * stages
	}
	return stages
}
