package sched

import "github.com/ridgeline/ridgeline/internal/unit"

// clocks is a heap of ranks by clock, the lower rank first where two are equal:
// the scheduler decides for the rank that is behind, and a scan over all ranks
// per pass would take stages squared.
type clocks []clock

type clock struct {
	at   unit.Seconds
	rank int32
}

func (a clock) before(b clock) bool { return a.at < b.at || a.at == b.at && a.rank < b.rank }

// fill starts with every rank at time 0, which in order of rank is a heap.
func (c *clocks) fill(ranks int) {
	*c = grow(*c, ranks)
	for i := range *c {
		(*c)[i] = clock{rank: int32(i)}
	}
}

// set moves the clock of the first rank on.
func (c clocks) set(at unit.Seconds) {
	x := c[0]
	x.at = at
	c.sink(x)
}

// sink puts x, which replaces the first entry, where it belongs.
func (c clocks) sink(x clock) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(c) {
			break
		}
		if child+1 < len(c) && c[child+1].before(c[child]) {
			child++
		}
		if x.before(c[child]) {
			break
		}
		c[i] = c[child]
		i = child
	}
	c[i] = x
}

// drop takes the first rank out.
func (c *clocks) drop() {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	if last > 0 {
		c.sink(x)
	}
}

// add puts a rank in.
func (c *clocks) add(rank int, at unit.Seconds) {
	x := clock{at, int32(rank)}
	*c = append(*c, x)
	i := len(*c) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !x.before((*c)[up]) {
			break
		}
		(*c)[i] = (*c)[up]
		i = up
	}
	(*c)[i] = x
}
