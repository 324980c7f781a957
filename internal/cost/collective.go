package cost

import (
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Transfer is one collective on one rank: bytes sent over each link, the
// seconds each link is busy at its achieved rate, and the time with latency.
// Floor <= Estimate <= Upper. Link names the link that binds.
type Transfer struct {
	ScaleUpBytes, NetworkBytes unit.Bytes
	ScaleUp, Network, Latency  unit.Seconds
	Floor, Estimate, Upper     unit.Seconds
	Algorithm                  string
	Link                       Resource
}

// maxAlternatives bounds the algorithms of one collective.
const maxAlternatives = 4

type alternatives struct {
	list [maxAlternatives]Transfer
	n    int
}

func (a *alternatives) add(t Transfer) { a.list[a.n] = t; a.n++ }

// best is the index of the smallest estimate.
func (a *alternatives) best() int {
	b := 0
	for i := 1; i < a.n; i++ {
		if a.list[i].Estimate < a.list[b].Estimate {
			b = i
		}
	}
	return b
}

// Collective prices the algorithm with the smallest estimate. A group of one
// rank costs nothing.
func (m *Machine) Collective(c *work.Comm) Transfer {
	var a alternatives
	m.consider(c, &a)
	if a.n == 0 {
		return Transfer{Algorithm: "none"}
	}
	return a.list[a.best()]
}

// Alternatives prices every algorithm considered, the chosen one first.
func (m *Machine) Alternatives(c *work.Comm) []Transfer {
	var a alternatives
	m.consider(c, &a)
	if a.n == 0 {
		return nil
	}
	b := a.best()
	a.list[0], a.list[b] = a.list[b], a.list[0]
	return append([]Transfer(nil), a.list[:a.n]...)
}

func (m *Machine) consider(c *work.Comm, a *alternatives) {
	if c.Size <= 1 || c.Bytes <= 0 {
		return
	}
	p := m.place(c)
	switch c.Kind {
	case work.AllGather, work.ReduceScatter:
		m.rings(p, float64(c.Bytes), 1, a)
	case work.AllReduce:
		m.rings(p, float64(c.Bytes), 2, a)
		m.inSwitch(p, float64(c.Bytes), a)
	case work.AllToAll:
		m.allToAll(p, float64(c.Bytes), a)
	case work.SendRecv:
		m.neighbour(p, c, 1, a)
	case work.RingExchange:
		m.neighbour(p, c, float64(p.n-1), a)
	case work.Dispatch:
		m.dispatch(p, c, a)
	}
}

// transfer prices bytes on both links, the hops' latency apart.
func (m *Machine) transfer(name string, scaleUpBytes, networkBytes, latency float64) Transfer {
	su, net := over(scaleUpBytes, m.scaleUp), over(networkBytes, m.nic)
	t := Transfer{
		ScaleUpBytes: unit.Bytes(scaleUpBytes), NetworkBytes: unit.Bytes(networkBytes),
		ScaleUp: unit.Seconds(su), Network: unit.Seconds(net), Latency: unit.Seconds(latency),
		Floor: unit.Seconds(max(su, net)), Estimate: unit.Seconds(max(su, net) + latency),
		Upper:     unit.Seconds((su+net)/pessimism + latency),
		Algorithm: name, Link: ScaleUp,
	}
	if net > su {
		t.Link = Network
	}
	if latency > max(su, net) {
		t.Link = Latency
	}
	return t
}
