package calib

import "math"

// knob is one constant of a search: where it lies and how far it may go.
type knob struct {
	value    *float64
	low, top float64
}

// rounds of a search: each halves the steps, so the last is the first step / 2^9.
const rounds = 10

// worthwhile is the least gain in the loss that is worth a step: a thousandth of a percent.
const worthwhile = 1e-5

// descend lowers loss by pattern search: every knob in turn tries a step up and
// down, steps halve when nothing helps. It needs no gradient, which the ceilings
// and roundings of kernel time do not have, and always gives the same answer.
func descend(knobs []knob, loss func() float64) float64 {
	step := make([]float64, len(knobs))
	for i, k := range knobs {
		step[i] = (k.top - k.low) / 4
	}
	best := loss()
	for range rounds {
		for moved := true; moved; {
			moved = false
			for i, k := range knobs {
				if b := try(k, step[i], best, loss); b < best-worthwhile {
					best, moved = b, true
				}
			}
		}
		for i := range step {
			step[i] /= 2
		}
	}
	return best
}

// try moves one knob to the better side, or leaves it.
func try(k knob, step, best float64, loss func() float64) float64 {
	old := *k.value
	for _, d := range [2]float64{step, -step} {
		*k.value = math.Min(math.Max(old+d, k.low), k.top)
		if b := loss(); b < best {
			return b
		}
	}
	*k.value = old
	return best
}
