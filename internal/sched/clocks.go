package sched

// clocks is a heap of ranks by clock, the lower rank first where two are equal:
// the scheduler decides for the rank that is behind, and a scan over all ranks
// per pass would take stages squared.
type clocks struct {
	ranks []greedyRank
	heap  []int32
}

// fill starts with every rank at time 0, which in order of rank is a heap.
func (c *clocks) fill(ranks []greedyRank) {
	c.ranks, c.heap = ranks, grow(c.heap, len(ranks))
	for i := range c.heap {
		c.heap[i] = int32(i)
	}
}

// first is the rank that is behind.
func (c *clocks) first() int { return int(c.heap[0]) }

func (c *clocks) before(i, j int) bool {
	a, b := c.heap[i], c.heap[j]
	x, y := c.ranks[a].now, c.ranks[b].now
	return x < y || x == y && a < b
}

// sink moves the i-th entry down after its clock went on.
func (c *clocks) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(c.heap); child++ {
			if c.before(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		c.heap[i], c.heap[least] = c.heap[least], c.heap[i]
		i = least
	}
}

// drop takes the first rank out.
func (c *clocks) drop() {
	last := len(c.heap) - 1
	c.heap[0] = c.heap[last]
	c.heap = c.heap[:last]
	c.sink(0)
}

// add puts a rank in.
func (c *clocks) add(r int) {
	c.heap = append(c.heap, int32(r))
	for i := len(c.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !c.before(i, up) {
			return
		}
		c.heap[i], c.heap[up] = c.heap[up], c.heap[i]
		i = up
	}
}
