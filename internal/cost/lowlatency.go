package cost

import "github.com/ridgeline/ridgeline/internal/work"

// exchange adds the expert all-to-all of a serving step. The normal kernels send a
// token once to each distinct GPU and are paced by their multiprocessors; those of
// decode steps send it once per expert, straight to the expert's rank, over the
// network where it lies on another node (deepseek-ai/DeepEP).
//
//	normal       scale-up = Bytes x distinct GPUs x (g-1)/g
//	low latency  scale-up = Bytes x k x (g-1)/n x F, network = Bytes x k x (n-g)/n x F
//
// The rank that gets most, F times the mean, sets the time both ways.
func (m *Machine) exchange(p placement, c *work.Comm, a *alternatives) {
	x, back := &m.serving.exchange, 0
	if c.LowLatency {
		x = &m.serving.lowLatency
	}
	if c.Combine {
		back = 1
	}
	b, n, g := float64(c.Bytes), float64(p.n), float64(p.inNode)
	l := legs{name: "dispatch", latency: m.exchangeLatency(p), streamed: true, nicPart: dispatchNIC, uplink: !m.rails}
	if x.Known() {
		l.latency = float64(x.Start[back])
		if p.nodes > 1 {
			l.latency += m.crossing
		}
	}
	if c.LowLatency {
		l.name = "low-latency dispatch"
		copies := b * choices(c) * unevenness(p, c)
		l.scaleUp, l.network = copies*(g-1)/n, copies*(n-g)/n
	} else {
		l.scaleUp = b * fullestGPU(p, c) * (g - 1) / g
	}
	share := dispatchScaleUp
	if x.Share[back] > 0 && m.peakScaleUp > 0 && m.scaleUp > 0 {
		share = x.Share[back]
		if sms := float64(c.SMs); x.PerSM[back] > 0 {
			if sms == 0 {
				sms = dispatchSMs
			}
			share = min(share, sms*x.PerSM[back])
		}
		share *= m.peakScaleUp / m.scaleUp
	}
	l.scaleUpPart = min(share, 1)
	a.add(m.transfer(l))
}
