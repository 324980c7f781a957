package train

import (
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// direction is one of the three passes of a pipeline: F, B (with the forward
// work that recomputation repeats) and W.
type direction int

const (
	forward direction = iota
	backward
	weight
	directions
)

// directionOf maps a work phase to the pass that runs it.
var directionOf = [work.NumPhases]direction{work.Forward: forward, work.Recompute: backward, work.Input: backward, work.Weight: weight}

// passCost is what one pass of one layer (or end) costs one rank for one
// micro-batch.
type passCost struct {
	floor, kernels, upper unit.Seconds // kernels without communication
	waits                 [work.NumAxes]unit.Seconds
	exchange              unit.Seconds // expert all-to-all, hidden only where two micro-batches pair up
	states                unit.Seconds // ZeRO-2 and ZeRO-3 collectives of the pass, hidden behind kernels
	hidden                unit.Seconds // kernel time that already covers tensor- and context-parallel collectives
	taken                 unit.Seconds // share of the multiprocessors that they take, 0 to 1
	serial                unit.Seconds // all communication, nothing hidden, pessimistic rates
	latency               unit.Seconds
	sol                   Ceilings
	flops                 unit.FLOPs
}

// add sums n times q into p.
func (p *passCost) add(q *passCost, n float64) {
	s := unit.Seconds(n)
	p.floor += s * q.floor
	p.kernels += s * q.kernels
	p.upper += s * q.upper
	for a := range p.waits {
		p.waits[a] += s * q.waits[a]
	}
	p.exchange += s * q.exchange
	p.states += s * q.states
	p.hidden += s * q.hidden
	p.serial += s * q.serial
	p.latency += s * q.latency
	p.sol.add(&q.sol, s)
	p.flops += unit.FLOPs(n) * q.flops
}

// alone is the length of the pass when no other micro-batch covers its exchange:
// the states' collectives hide behind its kernels only, since the exchange
// occupies the same links.
func (p *passCost) alone() unit.Seconds {
	return p.line() + p.exchange + p.uncovered()
}

// uncovered is what the states' collectives add to the pass: the part that its
// kernels do not cover, or the slowdown of the kernels, which leave them
// multiprocessors while they run.
func (p *passCost) uncovered() unit.Seconds {
	return max(p.states-(p.kernels-p.hidden), p.taken*p.states)
}

// line is kernels and the waits between them, which no pairing can hide.
func (p *passCost) line() unit.Seconds {
	t := p.kernels
	for _, w := range p.waits {
		t += w
	}
	return t
}

// steady is line without the wait for routed experts, which another micro-batch's kernels cover.
func (p *passCost) steady() unit.Seconds { return p.line() - p.waits[work.AxisEP] }

// launch adds a wait for the launch of routed experts.
func (p *passCost) launch(wait unit.Seconds) {
	p.waits[work.AxisEP] += wait
	p.serial += wait
}
