package infer

import "github.com/ridgeline/ridgeline/internal/unit"

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

// LatencyCurve, for tests in and outside the package, prices batch b at each round trip, tokens new tokens per sequence
// and step (1 without speculation). cal, where given, corrects the prices by
// measured points. Negative round trips are an error.
func LatencyCurve(at AtRTT, b *Batch, tokens float64, rtts []unit.Seconds, cal *Calibration) ([]LatencyPoint, error) {
	calibrated := func(rtt unit.Seconds) (Stepper, error) {
		s, err := at(rtt)
		if err != nil {
			return nil, err
		}
		return cal.Correct(s, tokens), nil
	}
	var out []LatencyPoint
	for _, rtt := range rtts {
		step, err := stepAt(calibrated, b, rtt)
		if err != nil {
			return nil, err
		}
		total, wire := step.Total/unit.Seconds(tokens), step.Wire/unit.Seconds(tokens)
		p := LatencyPoint{RTT: rtt, TPOT: total, Wire: wire, Share: float64(wire / total), TokensPerSecond: 1 / float64(total)}
		if len(out) > 0 {
			p.Change = p.TokensPerSecond/out[0].TokensPerSecond - 1
		}
		out = append(out, p)
	}
	return out, nil
}
