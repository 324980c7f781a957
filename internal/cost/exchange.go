package cost

import "github.com/ridgeline/ridgeline/internal/work"

// exchangeLatency is that of a pairwise exchange with a small message.
func (m *Machine) exchangeLatency(p placement) float64 {
	lat := float64(m.links.Pair)
	if p.nodes > 1 {
		lat += m.crossing
	}
	return lat
}

// allToAll adds the uniform exchange: every rank keeps 1/n of S, sends (g-1)/n
// inside its node and (n-g)/n over its NIC, to all rails.
func (m *Machine) allToAll(p placement, s float64, a *alternatives) {
	n, g := float64(p.n), float64(p.inNode)
	a.add(m.transfer(legs{
		name: "pairwise", scaleUp: (g - 1) / n * s, network: (n - g) / n * s, own: s / n,
		latency: m.exchangeLatency(p), uplink: true,
	}))
}

// neighbour adds steps exchanges with the next member, one after the other; where
// the group spans nodes the pair that crosses is the slowest.
func (m *Machine) neighbour(p placement, c *work.Comm, steps float64, a *alternatives) {
	l := legs{name: "neighbour", latency: steps * m.exchangeLatency(p), uplink: !m.rails}
	if p.nodes == 1 {
		l.scaleUp = steps * float64(c.Bytes)
	} else {
		l.network = steps * float64(c.Bytes)
	}
	a.add(m.transfer(l))
}
