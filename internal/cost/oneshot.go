package cost

import "github.com/ridgeline/ridgeline/internal/work"

// oneShot adds the engine's own all-reduce kernels, which read the peers' memory
// directly and so need one scale-up domain of NVLink:
//
//	one pass    (n-1) S       every rank reads all other tensors
//	two passes  2 (n-1)/n S   every rank sums its part and gathers the others'
func (m *Machine) oneShot(p placement, c *work.Comm, a *alternatives) {
	o := &m.serving.allReduce
	if !c.OneShot || !o.Known() || p.nodes > 1 || m.overPCIe() || o.Most > 0 && c.Bytes > o.Most {
		return
	}
	n, s := float64(p.n), float64(c.Bytes)
	rate := m.scaleUp
	if o.Share > 0 && m.peakScaleUp > 0 && !m.options.UsePeak {
		rate = m.peakScaleUp * o.Share
	}
	start := float64(o.Start) + float64(o.Rank)*(n-2)
	one := m.transfer(legs{name: "one-shot", scaleUp: (n - 1) * s, rate: rate, latency: start, streamed: true})
	two := m.transfer(legs{name: "two-shot", scaleUp: 2 * (n - 1) / n * s, rate: rate, latency: start + float64(o.Pass), streamed: true})
	for _, t := range [...]Transfer{one, two} {
		if c.Eager && o.Eager > t.Estimate {
			t.Estimate, t.Upper, t.Link = o.Eager, max(t.Upper, o.Eager), Latency
		}
		a.add(t)
	}
}
