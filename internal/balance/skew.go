package balance

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// PowerLaw is the popularity of n experts that falls with rank r = 1, 2, ... as
// r^-alpha; it sums to 1. alpha 0 is even.
func PowerLaw(n int, alpha float64) ([]float64, error) {
	if n < 1 || n > maxExperts {
		return nil, fmt.Errorf("%d experts under a power law: give 1 to %d", n, maxExperts)
	}
	if !(alpha >= 0 && alpha <= maxAlpha) {
		return nil, fmt.Errorf("expert skew %g: give a power-law exponent from 0 (even) to %d", alpha, maxAlpha)
	}
	loads, sum := make([]float64, n), 0.0
	for i := range loads {
		loads[i] = math.Pow(float64(i+1), -alpha)
		sum += loads[i]
	}
	for i := range loads {
		loads[i] /= sum
	}
	return loads, nil
}

// maxAlpha is where nearly every token goes to one expert.
const maxAlpha = 8

// shuffled is the loads in the order-th random order. An expert's popularity says
// nothing about its number, so a placement by number meets a random order.
func shuffled(loads []float64, order uint64) []float64 {
	out := make([]float64, len(loads))
	for i, j := range rand.New(rand.NewPCG(0x6c61796572, order)).Perm(len(loads)) {
		out[i] = loads[j]
	}
	return out
}
