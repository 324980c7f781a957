package infer

import (
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// farOff is how many times the prediction a measured TPOT may be: no engine is that slow,
// a wrong unit is.
const farOff = 100

// Calibrate fits the correction to measured points. One point sets Extra, the wait
// per exchange stays as counted; two points set both, and the curve goes through
// them; more are fitted by least squares. It errs where points contradict the
// counted exchanges: a time that does not grow with the round trip, or less than
// the network's waiting or the reading of memory alone.
func Calibrate(at AtRTT, b *Batch, tokens float64, points []Measured) (*Calibration, error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("no calibration points: %s", calibrateForm)
	}
	wires, rests := make([]float64, len(points)), make([]float64, len(points))
	for i, m := range points {
		s, err := stepAt(at, b, m.RTT)
		if err != nil {
			return nil, err
		}
		if floor := s.HBM / unit.Seconds(tokens); m.TPOT < floor {
			return nil, fmt.Errorf("calibration point tpot=%s@rtt=%s: reading weights and cache alone takes %s per token in this plan: check the figure and its unit, or the cluster's memory bandwidth",
				unit.FormatSeconds(m.TPOT), unit.FormatSeconds(m.RTT), unit.FormatSeconds(floor))
		}
		if model := s.Total / unit.Seconds(tokens); m.TPOT > farOff*model {
			return nil, fmt.Errorf("calibration point tpot=%s@rtt=%s: more than %d times the %s that this plan is predicted at: check the figure and its unit",
				unit.FormatSeconds(m.TPOT), unit.FormatSeconds(m.RTT), farOff, unit.FormatSeconds(model))
		}
		wires[i] = float64(s.Wire) / tokens
		rests[i] = float64(m.TPOT) - float64(s.Total-s.Wire)/tokens // = Extra + Slope x wire
	}
	c := &Calibration{Slope: 1, Points: points}
	if len(points) > 1 {
		slope, err := fitSlope(wires, rests)
		if err != nil {
			return nil, err
		}
		c.Slope = slope
	}
	extra := 0.0
	for i := range points {
		extra += (rests[i] - c.Slope*wires[i]) / float64(len(points))
	}
	c.Extra = unit.Seconds(extra)
	sum := 0.0
	for i, m := range points {
		off := rests[i] - c.Slope*wires[i] - extra
		sum += off * off
		if left := float64(m.TPOT) - c.Slope*wires[i]; left <= 0 {
			return nil, fmt.Errorf("calibration point tpot=%s@rtt=%s: the network alone takes %s per token in this plan: measure the same plan",
				unit.FormatSeconds(m.TPOT), unit.FormatSeconds(m.RTT), unit.FormatSeconds(unit.Seconds(c.Slope*wires[i])))
		}
	}
	if len(points) > 2 {
		c.RMS = unit.Seconds(math.Sqrt(sum / float64(len(points))))
	}
	return c, nil
}

// fitSlope is the least-squares slope of rests over wires.
func fitSlope(wires, rests []float64) (float64, error) {
	n := float64(len(wires))
	var mw, mr, sww, swr float64
	for i := range wires {
		mw += wires[i] / n
		mr += rests[i] / n
	}
	for i := range wires {
		sww += (wires[i] - mw) * (wires[i] - mw)
		swr += (wires[i] - mw) * (rests[i] - mr)
	}
	if sww <= (1e-9*mw)*(1e-9*mw)*n {
		return 0, fmt.Errorf("calibration on several round trips: no exchange of this plan crosses nodes, so the round trip changes nothing: give one point")
	}
	if swr <= 0 {
		return 0, fmt.Errorf("calibration points do not grow with the round trip: check which TPOT belongs to which rtt")
	}
	return swr / sww, nil
}
