package balance

import "slices"

// Placement is where the experts of a layer lie and what each GPU carries.
type Placement struct {
	Layout Layout
	GPUs   [][]int   // experts in the slots of each GPU; at most Layout.PerGPU(), fewer where a copy would not help
	Copies []int     // of each expert
	Loads  []float64 // of each GPU; an expert's load is split evenly over its copies
}

// InOrder is the placement without balancing: expert i and its neighbours lie on
// one GPU whatever their loads; redundant slots stay empty.
func InOrder(loads []float64, l Layout) (*Placement, error) {
	if err := l.check(loads); err != nil {
		return nil, err
	}
	p := &Placement{Layout: l, GPUs: make([][]int, l.GPUs), Copies: make([]int, l.Experts)}
	for e := range l.Experts {
		g := e * l.GPUs / l.Experts
		p.GPUs[g] = append(p.GPUs[g], e)
		p.Copies[e] = 1
	}
	p.weigh(loads)
	return p, nil
}

// Place is the best balanced of the placements of deepseek-ai/EPLB (groups to nodes,
// copies of the heaviest experts within a node, copies to its GPUs) with l.Redundant
// copies or fewer, each into as few slots as it needs. A greedy packing of more copies is
// sometimes less even than one of fewer; choosing among all makes redundancy
// never hurt.
func Place(loads []float64, l Layout) (*Placement, error) {
	if err := l.check(loads); err != nil {
		return nil, err
	}
	nodes := l.nodesOf(loads)
	perNode := l.GPUs / len(nodes)
	var best *Placement
	for extra := 0; extra <= l.Redundant; extra += len(nodes) {
		copies := (l.Experts + extra) / len(nodes)
		p := l.place(loads, nodes, extra, (copies+perNode-1)/perNode)
		if best == nil || p.Balancedness() > best.Balancedness() {
			best = p
		}
	}
	return best, nil
}

// check is Layout.Check and the loads'. Experts of a hierarchical placement
// divide over its nodes, and so do its slots, once these hold.
func (l Layout) check(loads []float64) error {
	if err := l.Check(); err != nil {
		return err
	}
	return l.checkLoads(loads)
}

// place fills at most room slots per GPU with extra copies, evenly over nodes.
func (l Layout) place(loads []float64, nodes [][]int, extra, room int) *Placement {
	p := &Placement{Layout: l, Copies: make([]int, l.Experts)}
	for _, members := range nodes {
		p.GPUs = append(p.GPUs, onGPUs(loads, members, extra/len(nodes), l.GPUs/len(nodes), room, p.Copies)...)
	}
	p.weigh(loads)
	return p
}

// weigh sums the loads of the GPUs.
func (p *Placement) weigh(loads []float64) {
	p.Loads = make([]float64, len(p.GPUs))
	for g, slots := range p.GPUs {
		for _, e := range slots {
			p.Loads[g] += loads[e] / float64(p.Copies[e])
		}
	}
}

// Under is the same placement carrying other loads, for example today's after
// it was made from yesterday's.
func (p *Placement) Under(loads []float64) (*Placement, error) {
	if err := p.Layout.checkLoads(loads); err != nil {
		return nil, err
	}
	q := *p
	q.weigh(loads)
	return &q, nil
}

// Balancedness is mean over max of the GPUs' loads: 1 is even, 1/GPUs is all on
// one. Without any load it is 1.
func (p *Placement) Balancedness() float64 {
	most, sum := slices.Max(p.Loads), 0.0
	for _, w := range p.Loads {
		sum += w
	}
	if most == 0 {
		return 1
	}
	return sum / float64(len(p.Loads)) / most
}
