package cost

import "math"

// networkHop is what a crossing between nodes costs beside the fabric's own
// latency (host proxy, flush, synchronisation): a two-node NCCL all-reduce has a
// floor of 47 us where one node has 16, over a fabric of 5.6 us (RoCE across
// leaf and spine, arXiv:2505.09343): (47 - 16)/2 - 5.6 for each of two crossings.
const networkHop = 10e-6

// switchFrom is the smallest group that sums in the switch; NCCL keeps the ring
// up to four ranks on H200 (stas00/ml-engineering:network/README.md).
const switchFrom = 5

// crossing is the latency of one message between nodes.
func (m *Machine) crossing() float64 { return m.nicLat + networkHop }

// inNode is the latency of a ring's passes over g ranks of one node.
func (m *Machine) inNode(g, passes float64) float64 {
	return float64(m.links.Start) + float64(m.links.Hop)*(passes*(g-1)-1)
}

// rings adds the ring algorithms: passes is 1 for all-gather and reduce-scatter
// of S bytes, 2 for all-reduce, over n ranks on N nodes of g.
//
//	flat ring     (n-1)/n S per rank on every link, one ring through all ranks
//	hierarchical  (g-1)/g S on the scale-up link, (N-1)/N S/g per NIC: a ring per rail
func (m *Machine) rings(p placement, s, passes float64, a *alternatives) {
	n, g, nodes := float64(p.n), float64(p.inNode), float64(p.nodes)
	flat := legs{name: "ring", own: s / n}
	switch {
	case p.nodes == 1:
		flat.scaleUp, flat.latency = passes*(n-1)/n*s, m.inNode(n, passes)
		a.add(m.transfer(flat))
	case p.inNode == 1:
		flat.network, flat.latency = passes*(n-1)/n*s, m.inNode(2, 1)+passes*(nodes-1)*m.crossing()
		flat.uplink = !m.rails
		a.add(m.transfer(flat))
	default:
		a.add(m.transfer(legs{
			name: "hierarchical", own: s / n, uplink: !m.rails,
			scaleUp: passes * (g - 1) / g * s, network: passes * (nodes - 1) / nodes * s / g,
			latency: m.inNode(g, passes) + passes*(nodes-1)*m.crossing(),
		}))
		flat.name, flat.uplink = "flat ring", true
		flat.scaleUp, flat.network = passes*(n-1)/n*s, passes*(n-1)/n*s
		flat.latency = m.inNode(g, passes)*nodes + passes*(nodes-1)*m.crossing()
		a.add(m.transfer(flat))
	}
}

// inSwitch adds the all-reduce that is summed in the scale-up switch: every rank
// sends S once, whatever the size of the group. Between nodes the rails carry
// trees: S/g out and back for two nodes, twice that for more, at depth log2 N.
func (m *Machine) inSwitch(p placement, s float64, a *alternatives) {
	if m.reduce == 0 || p.inNode < switchFrom {
		return
	}
	start := float64(max(m.links.Switch, m.links.Start))
	l := legs{name: "in-switch", scaleUp: s, rate: m.reduce, latency: start}
	if p.nodes > 1 {
		l.name, l.uplink = "in-switch tree", !m.rails
		l.network = s / float64(p.inNode)
		depth := math.Ceil(math.Log2(float64(p.nodes)))
		if p.nodes > 2 {
			l.network *= 2
		}
		l.latency += 2 * depth * m.crossing()
	}
	a.add(m.transfer(l))
}
