package cost

import "math"

// A crossing between nodes costs more than the fabric's own latency: host proxy,
// flush, synchronisation.
const (
	// networkHop: a two-node NCCL all-reduce on H20 has a floor of 47 us where one
	// node has 16, over a fabric of 5.6 us (RoCE across leaf and spine,
	// arXiv:2505.09343): (47 - 16)/2 - 5.6 for each of its two crossings.
	networkHop = 10e-6
	// efaHop: the same of a small all-reduce over EFA, 55.5 us on two nodes of H100
	// and 12.9 us on one (The Smol Training Playbook); it holds EFA's own latency.
	efaHop = 21e-6
)

// switchFrom is the smallest group that sums in the switch; NCCL keeps the ring
// up to four ranks on H200 (stas00/ml-engineering:network/README.md).
const switchFrom = 5

// inRing is the latency of a ring's passes over n ranks on N nodes.
func (m *Machine) inRing(p placement, passes float64) float64 {
	crossings := 0.0
	if p.nodes > 1 {
		crossings = passes * float64(p.nodes-1)
	}
	hops := max(passes*float64(p.n-1)-1-crossings, 0)
	return float64(m.links.Start) + float64(m.links.Hop)*hops + crossings*m.crossing
}

// rings adds the ring algorithms: passes is 1 for all-gather and reduce-scatter
// of S bytes, 2 for all-reduce, over n ranks on N nodes of g.
//
//	flat ring     (n-1)/n S per rank on every link, one ring through all ranks
//	hierarchical  (g-1)/g S on the scale-up link, (N-1)/N S/g per NIC: a ring per rail
//
// NCCL's rails carry (n-1)/n S/g, since each ring passes all ranks; the estimate
// says so: 382 GB/s busbw on 4 nodes of 8 B200 are 8 NICs at 48 of 50 GB/s
// (stas00/ml-engineering:network/README.md).
func (m *Machine) rings(p placement, s, passes float64, a *alternatives) {
	n, g, nodes := float64(p.n), float64(p.inNode), float64(p.nodes)
	all := passes * (n - 1) / n * s
	flat := legs{name: "ring", own: s / n, latency: m.inRing(p, passes)}
	switch {
	case p.nodes == 1:
		flat.scaleUp = all
	case p.inNode == 1:
		flat.network, flat.uplink = all, !m.rails
	default:
		rails := flat
		rails.name, rails.uplink = "hierarchical", !m.rails
		rails.scaleUp, rails.network = passes*(g-1)/g*s, passes*(nodes-1)/nodes*s/g
		rails.nicPart = (nodes - 1) / nodes * n / (n - 1)
		a.add(m.transfer(rails))
		flat.name, flat.uplink, flat.scaleUp, flat.network = "flat ring", true, all, all
	}
	a.add(m.transfer(flat))
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
		l.latency += 2 * depth * m.crossing
	}
	a.add(m.transfer(l))
}
