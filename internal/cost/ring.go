package cost

import "github.com/ridgeline/ridgeline/internal/work"

// Latency of one collective and of one hop, seconds.
const (
	collectiveFloor = 12.9e-6 // small all-reduce, 8 H100: The Smol Training Playbook
	networkHop      = 10e-6   // host proxy and flush per crossing, beside the fabric's own latency
)

// rings adds the ring algorithms: passes is 1 for all-gather and reduce-scatter
// of S bytes, 2 for all-reduce.
//
//	flat ring     (n-1)/n S per rank on every link
//	hierarchical  (N-1)/N S/g per NIC, (g-1)/g S on the scale-up link
func (m *Machine) rings(p placement, s, passes float64, a *alternatives) {
	n, g, nodes := float64(p.n), float64(p.inNode), float64(p.nodes)
	hop := m.nicLat + networkHop
	if p.nodes == 1 {
		a.add(m.transfer("ring", passes*(n-1)/n*s, 0, collectiveFloor))
		return
	}
	if p.inNode == 1 {
		a.add(m.transfer("ring", 0, passes*(n-1)/n*s, collectiveFloor+passes*(n-1)*hop))
		return
	}
	a.add(m.transfer("hierarchical", passes*(g-1)/g*s, passes*(nodes-1)/nodes*s/g, collectiveFloor+passes*(nodes-1)*hop))
	a.add(m.transfer("flat ring", passes*(n-1)/n*s, passes*(n-1)/n*s, collectiveFloor+passes*(n-1)*hop))
}

// inSwitch adds the all-reduce whose sum is formed in the scale-up switch.
func (m *Machine) inSwitch(p placement, s float64, a *alternatives) {
	if m.reduce <= m.scaleUp || p.nodes > 1 || m.scaleUp == 0 {
		return
	}
	n := float64(p.n)
	a.add(m.transfer("in-switch", 2*(n-1)/n*s*m.scaleUp/m.reduce, 0, collectiveFloor))
}

// allToAll adds the uniform exchange: every rank keeps 1/n of S, sends (g-1)/n
// inside its node and (n-g)/n over its NIC.
func (m *Machine) allToAll(p placement, s float64, a *alternatives) {
	n, g := float64(p.n), float64(p.inNode)
	lat := collectiveFloor
	if p.nodes > 1 {
		lat += m.nicLat + networkHop
	}
	a.add(m.transfer("pairwise", (g-1)/n*s, (n-g)/n*s, lat))
}

// neighbour adds steps exchanges with the next member; where the group spans
// nodes the pair that crosses is the slowest.
func (m *Machine) neighbour(p placement, c *work.Comm, steps float64, a *alternatives) {
	b := steps * float64(c.Bytes)
	if p.nodes == 1 {
		a.add(m.transfer("neighbour", b, 0, steps*collectiveFloor))
		return
	}
	a.add(m.transfer("neighbour", 0, b, steps*(m.nicLat+networkHop)))
}
