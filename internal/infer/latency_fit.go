package infer

import (
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// farOff is how many times the prediction a measured TPOT may be: no engine is that slow,
// a wrong unit is.
const farOff = 100

// TPOTAt gives the time per output token of the measured load with the correction c,
// on a network with a round trip of rtt; steps that also read prompts included.
type TPOTAt func(c *Calibration, rtt unit.Seconds) (unit.Seconds, error)

// calibrated is how near, relatively, the prediction must come to what was asked for
// within rounds fits; each costs one prediction a point. Prompts change little with
// the correction, so 3 to 8 do.
const (
	calibrated = 1e-6
	rounds     = 60
)

// Calibrate fits the correction to measured points: the prediction of their load goes
// through them. One point sets Extra, the wait per exchange stays as counted; two points
// set both; more are fitted by least squares. b is a decode step of the load, what tpot
// predicts beyond it is prompts that are read meanwhile: each round fits the step to what
// they leave of the measured times. It errs where points contradict the counted
// exchanges: a time that does not grow with the round trip, or less than the
// network's waiting, the reading of memory or the prompts alone.
func Calibrate(at AtRTT, b *Batch, tokens float64, points []Measured, tpot TPOTAt) (*Calibration, error) {
	f, err := newFit(at, b, tokens, points)
	if err != nil {
		return nil, err
	}
	for range rounds {
		c, err := f.solve()
		if err != nil {
			return nil, err
		}
		moved := 0.0
		for i, m := range points {
			whole, err := tpot(c, m.RTT)
			if err != nil {
				return nil, err
			}
			beside := float64(whole) - (f.rests[i] + float64(c.Extra) + c.Slope*f.wires[i])
			moved = max(moved, math.Abs(beside-f.beside[i])/float64(m.TPOT))
			f.beside[i] = beside
		}
		if moved < calibrated {
			return c, f.check(c)
		}
	}
	return nil, fmt.Errorf("--calibrate: no correction of steps brings this load to the measured TPOT: prompts, not decode steps, set its pace; measure with fewer requests in flight")
}

// fit is measured points beside what the model counts for them, per token.
type fit struct {
	points []Measured
	rests  []float64 // a step without its waits between nodes
	wires  []float64 // those waits, as counted
	beside []float64 // of the measured time: prompts, not the step
	floors []unit.Seconds
}

func newFit(at AtRTT, b *Batch, tokens float64, points []Measured) (*fit, error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("no calibration points: %s", calibrateForm)
	}
	f := &fit{points: points, beside: make([]float64, len(points))}
	for _, m := range points {
		s, err := stepAt(at, b, m.RTT)
		if err != nil {
			return nil, err
		}
		if model := s.Total / unit.Seconds(tokens); m.TPOT > farOff*model {
			return nil, fmt.Errorf("calibration point tpot=%s@rtt=%s: more than %d times the %s that this plan is predicted at: check the figure and its unit",
				unit.FormatSeconds(m.TPOT), unit.FormatSeconds(m.RTT), farOff, unit.FormatSeconds(model))
		}
		f.wires = append(f.wires, float64(s.Wire)/tokens)
		f.rests = append(f.rests, float64(s.Total-s.Wire)/tokens)
		f.floors = append(f.floors, s.HBM/unit.Seconds(tokens))
	}
	c, err := f.solve()
	if err != nil {
		return nil, err
	}
	return f, f.check(c)
}

// lacks is what the counted step, its waits aside, lacks of point i: Extra + Slope x wire.
func (f *fit) lacks(i int) float64 { return float64(f.points[i].TPOT) - f.beside[i] - f.rests[i] }

// solve fits the step alone.
func (f *fit) solve() (*Calibration, error) {
	c := &Calibration{Slope: 1, Points: f.points}
	n := len(f.points)
	if n > 1 {
		lacks := make([]float64, n)
		for i := range lacks {
			lacks[i] = f.lacks(i)
		}
		slope, err := fitSlope(f.wires, lacks)
		if err != nil {
			return nil, err
		}
		c.Slope = slope
	}
	extra, sum := 0.0, 0.0
	for i := range f.points {
		extra += (f.lacks(i) - c.Slope*f.wires[i]) / float64(n)
	}
	for i := range f.points {
		off := f.lacks(i) - c.Slope*f.wires[i] - extra
		sum += off * off
	}
	c.Extra = unit.Seconds(extra)
	if n > 2 {
		c.RMS = unit.Seconds(math.Sqrt(sum / float64(n)))
	}
	return c, nil
}

// check refuses measured times that leave a step less than its memory or its network takes.
func (f *fit) check(c *Calibration) error {
	for i, m := range f.points {
		left, meanwhile := m.TPOT-unit.Seconds(f.beside[i]), ""
		if f.beside[i] > calibrated*float64(m.TPOT) {
			meanwhile = fmt.Sprintf(" beside %s of prompts read meanwhile", unit.FormatSeconds(unit.Seconds(f.beside[i])))
		}
		if left < f.floors[i] {
			return fmt.Errorf("calibration point tpot=%s@rtt=%s: reading weights and cache alone takes %s per token in this plan%s: check the figure and its unit, or the cluster's memory bandwidth",
				unit.FormatSeconds(m.TPOT), unit.FormatSeconds(m.RTT), unit.FormatSeconds(f.floors[i]), meanwhile)
		}
		if wire := unit.Seconds(c.Slope * f.wires[i]); left <= wire {
			return fmt.Errorf("calibration point tpot=%s@rtt=%s: the network alone takes %s per token in this plan%s: measure the same plan",
				unit.FormatSeconds(m.TPOT), unit.FormatSeconds(m.RTT), unit.FormatSeconds(wire), meanwhile)
		}
	}
	return nil
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
