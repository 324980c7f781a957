package infer

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// AtRTT gives the stepper of one deployment on a network with a round trip of rtt
// between nodes.
type AtRTT func(rtt unit.Seconds) (Stepper, error)

// LatencyPoint is a decode step at one network round trip.
type LatencyPoint struct {
	RTT             unit.Seconds
	TPOT            unit.Seconds
	Wire            unit.Seconds // part of TPOT that waits for the round trips of the network
	Share           float64      // Wire / TPOT
	TokensPerSecond float64      // of one user
	Change          float64      // of TokensPerSecond against the first point, -0.74 = falls by 74 %
}

// Exchanges is how many times per token half a round trip is waited for.
func (p LatencyPoint) Exchanges() float64 { return float64(p.Wire / (p.RTT / 2)) }

// LatencyCurve prices batch b at each round trip, tokens new tokens per sequence
// and step (1 without speculation). cal, where given, corrects the prices by
// measured points. Negative round trips are an error.
func LatencyCurve(at AtRTT, b *Batch, tokens float64, rtts []unit.Seconds, cal *Calibration) ([]LatencyPoint, error) {
	var out []LatencyPoint
	for _, rtt := range rtts {
		step, err := stepAt(at, b, rtt)
		if err != nil {
			return nil, err
		}
		total, wire := cal.correct(step.Total/unit.Seconds(tokens), step.Wire/unit.Seconds(tokens))
		p := LatencyPoint{RTT: rtt, TPOT: total, Wire: wire, Share: float64(wire / total), TokensPerSecond: 1 / float64(total)}
		if len(out) > 0 {
			p.Change = p.TokensPerSecond/out[0].TokensPerSecond - 1
		}
		out = append(out, p)
	}
	return out, nil
}

// stepAt is one step of b at a round trip.
func stepAt(at AtRTT, b *Batch, rtt unit.Seconds) (Step, error) {
	if !(rtt >= 0) {
		return Step{}, fmt.Errorf("network round trip of %g s: give 0 or more, for example 0.193ms", float64(rtt))
	}
	s, err := at(rtt)
	if err != nil {
		return Step{}, err
	}
	return s.Step(b), nil
}
