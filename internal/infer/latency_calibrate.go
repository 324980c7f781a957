package infer

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Measured is one measured time per output token at a network round trip.
type Measured struct{ TPOT, RTT unit.Seconds }

// calibrateForm is what an error asks for.
const calibrateForm = "write tpot=52.8ms@rtt=0.193ms, several points separated by commas"

// ParseMeasured reads tpot=52.8ms@rtt=0.193ms[,...]. Errors are one line and name
// the point.
func ParseMeasured(text string) ([]Measured, error) {
	var out []Measured
	for _, item := range strings.Split(text, ",") {
		left, right, ok := strings.Cut(strings.TrimSpace(item), "@")
		tpot, a := strings.CutPrefix(strings.TrimSpace(left), "tpot=")
		rtt, b := strings.CutPrefix(strings.TrimSpace(right), "rtt=")
		if !ok || !a || !b {
			return nil, fmt.Errorf("calibration point %q is not understood: %s", item, calibrateForm)
		}
		var m Measured
		var err error
		if m.TPOT, err = unit.ParseSeconds(tpot); err != nil {
			return nil, fmt.Errorf("calibration point %q: %w", item, err)
		}
		if m.RTT, err = unit.ParseSeconds(rtt); err != nil {
			return nil, fmt.Errorf("calibration point %q: %w", item, err)
		}
		if m.TPOT == 0 {
			return nil, fmt.Errorf("calibration point %q: a token takes time, give the measured TPOT", item)
		}
		for _, o := range out {
			if o.RTT == m.RTT {
				return nil, fmt.Errorf("calibration point %q: its round trip is given twice, keep one", item)
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// Calibration corrects predicted times per token by measured ones:
//
//	corrected = predicted - wire + Extra + Slope x wire
//
// Extra is what the model's kernels and overheads lack, the same at any round
// trip; Slope is how many of the counted waits a real exchange takes.
type Calibration struct {
	Extra  unit.Seconds
	Slope  float64
	Points []Measured
	RMS    unit.Seconds // what is left between curve and points; 0 for one or two
}

// Correct is a stepper with the times of inner corrected, for tokens new tokens per
// sequence and step (1 without speculation). nil corrects nothing.
func (c *Calibration) Correct(inner Stepper, tokens float64) Stepper {
	if c == nil {
		return inner
	}
	return &corrected{inner, c, tokens}
}

type corrected struct {
	inner  Stepper
	by     *Calibration
	tokens float64
}

// Step adds what the calibration found missing per generated token, and takes
// each wait between nodes as it was measured.
func (c *corrected) Step(b *Batch) Step {
	s := c.inner.Step(b)
	wire := unit.Seconds(c.by.Slope) * s.Wire
	extra := wire - s.Wire
	s.Parts[Communication] += extra
	if b.Decode > 0 {
		own := c.by.Extra * unit.Seconds(c.tokens)
		s.Parts[Overhead] += own
		extra += own
	}
	s.Wire = wire
	s.Total += extra
	s.Floor, s.Upper = min(max(s.Floor, wire), s.Total), max(s.Upper+extra, s.Total) // the wait as measured is a resource, too
	return s
}
