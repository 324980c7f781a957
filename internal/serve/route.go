package serve

// router spreads requests over the ranks of instances of one kind.
type router struct {
	routing Routing
	ranks   []*rank
	turn    int
}

func newRouter(routing Routing, instances []*instance) router {
	r := router{routing: routing}
	for _, in := range instances {
		r.ranks = append(r.ranks, in.ranks...)
	}
	return r
}

// choose names the rank that gets the next request.
func (r *router) choose() *rank {
	if r.routing == RoundRobin {
		r.turn++
		return r.ranks[(r.turn-1)%len(r.ranks)]
	}
	least := r.ranks[0]
	for _, x := range r.ranks[1:] {
		if x.load < least.load {
			least = x
		}
	}
	return least
}
