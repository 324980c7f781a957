package cost

import (
	"math"

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
const maxAlternatives = 6

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
		m.oneShot(p, c, a)
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

// legs is one algorithm before pricing: bytes one rank sends over each link,
// and what the links do not explain.
type legs struct {
	name             string
	scaleUp, network float64 // bytes
	own              float64 // bytes of the rank's own part that are copied besides
	latency          float64 // seconds of a small message
	rate             float64 // bytes/s on the scale-up link; 0 = the machine's
	uplink           bool    // network bytes cross the leaf switches' uplinks
	// Shares of the links' rates that the algorithm reaches; 0 = all.
	scaleUpPart, nicPart float64
	streamed             bool // no pipeline to fill: the shares hold it already
}

// transfer prices the legs. Both links work at once in pipelines of chunks:
//
//	floor    = max(busy times at achieved rates)
//	estimate = latency + own copy + busy + 2 sqrt(chunk busy), busy = max(busy times at the algorithm's shares)
//	upper    = estimate with the smaller busy time not hidden, all at pessimistic rates
//
// The root is the best split of b bytes into chunks: the pipeline waits for one
// chunk (b/chunks at the link's rate) and pays the chunk latency for each.
func (m *Machine) transfer(l legs) Transfer {
	rate, nic := m.scaleUp, m.nic
	if l.rate > 0 {
		rate = l.rate
	}
	if rate == 0 {
		// Nodes of one GPU have no scale-up link. Their own part costs Links.Own of sending it, over
		// the only link there is.
		rate = nic
	}
	if l.uplink {
		nic = m.uplink
	}
	su, net := over(l.scaleUp, rate), over(l.network, nic)
	slowSU, slowNet := su/m.scaleUpPart(&l), net
	if l.nicPart > 0 && !m.options.UsePeak {
		slowNet /= l.nicPart
	}
	busy, small := max(slowSU, slowNet), min(slowSU, slowNet)
	est := l.latency + busy + over(l.own*m.links.Own, rate)
	if !l.streamed {
		chunk := float64(m.links.Chunk)
		if l.network > 0 {
			chunk = max(chunk, m.nicLat)
		}
		est += 2 * math.Sqrt(chunk*busy)
	}
	t := Transfer{
		ScaleUpBytes: unit.Bytes(l.scaleUp), NetworkBytes: unit.Bytes(l.network),
		ScaleUp: unit.Seconds(su), Network: unit.Seconds(net), Latency: unit.Seconds(l.latency),
		Floor: unit.Seconds(max(su, net)), Estimate: unit.Seconds(est),
		Upper:     unit.Seconds(est + small + (1/m.pessimism-1)*(busy+small)),
		Algorithm: l.name, Link: ScaleUp,
	}
	if m.uplink < m.nic && !l.uplink { // rails of a large fabric may share uplinks after all
		t.Upper += unit.Seconds(over(l.network, m.uplink) - net)
	}
	if slowNet > slowSU {
		t.Link = Network
	}
	if l.latency > busy {
		t.Link = Latency
	}
	return t
}
