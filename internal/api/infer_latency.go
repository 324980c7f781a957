package api

import (
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// LatencyPoint is the best point's layout and load at one round trip between nodes.
type LatencyPoint struct {
	RTT       unit.Seconds
	Point     *deploy.Point
	Exchanges float64 // how many times a token waits for half of it
	Change    float64 // of a user's tokens/s against the first: -0.74 = falls by 74 %
}

// addedRTT is put on the network's own round trip to show what latency costs.
var addedRTT = []unit.Seconds{0, 0.1e-3, 0.5e-3, 1e-3, 2e-3, 5e-3}

// latency prices the best layout on slower networks, where it crosses any.
func (a *InferAnswer) latency(q *deploy.Question, own unit.Seconds) error {
	b, v := a.Best.Best, *a.Best.Variant
	if b.Decode.Wire <= 0 {
		return nil
	}
	rtts := a.Request.RTT
	if len(rtts) < 2 {
		if v.RTT != nil {
			own = *v.RTT
		}
		rtts = nil
		for _, more := range addedRTT {
			rtts = append(rtts, own+more)
		}
	}
	for _, rtt := range rtts {
		v.RTT = &rtt
		p, err := q.Again(&v, b, a.Best.Calibration)
		if err != nil {
			return err
		}
		x := LatencyPoint{RTT: rtt, Point: p}
		if rtt > 0 {
			x.Exchanges = float64(p.Decode.Wire/(rtt/2)) / v.Speculation.Tokens()
		}
		if len(a.Latency) > 0 {
			x.Change = p.PerUser()/a.Latency[0].Point.PerUser() - 1
		}
		a.Latency = append(a.Latency, x)
	}
	return nil
}
