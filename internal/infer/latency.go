package infer

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// AtRTT gives the stepper of one deployment on a network with a round trip of rtt
// between nodes.
type AtRTT func(rtt unit.Seconds) (Stepper, error)

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
