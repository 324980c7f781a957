package infer

// hop is stage boundaries of one sort: how many, and how far apart the ranks lie.
type hop struct {
	count  float64
	stride int64
}

// crossings counts the boundaries inside a node and between nodes. Ranks fill
// nodes in order, pipeline outermost.
func (e *Engine) crossings() {
	p := &e.setup.Plan
	node, width := e.setup.Cluster.Node.GPUs, int64(p.Ranks())
	inside, between := 0.0, 0.0
	for i := int64(1); i < int64(p.PP); i++ {
		if (i-1)*width/node == i*width/node {
			inside++
		} else {
			between++
		}
	}
	if inside > 0 {
		e.hops = append(e.hops, hop{inside, 1})
	}
	if between > 0 {
		e.hops = append(e.hops, hop{between, node})
	}
}

// hop adds the boundaries that a micro-batch of n rows crosses.
func (e *Engine) hop(s *sums, n int64) {
	for _, h := range e.hops {
		e.scratch = e.ops.Hop(e.scratch[:0], n, h.stride)
		var one sums
		for i := range e.scratch {
			e.op(&one, &e.scratch[i])
		}
		s.add(&one, h.count)
	}
}
