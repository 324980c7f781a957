package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/unit"
	"time"
)

// Process is the law of the gaps between arrivals.
type Process uint8

// The processes of an open workload.
const (
	Constant Process = iota // gap = 1 / rate
	Poisson                 // exponential gaps, coefficient of variation 1
	Gamma                   // gamma gaps with a given coefficient of variation: bursty above 1, smooth below
)

// Arrival is an open arrival process.
type Arrival struct {
	Process   Process
	Rate      float64 // requests per second, above 0
	Variation float64 // coefficient of variation of the gaps, for Gamma
}

// Limits of processes: a rate whose gaps vanish in nanoseconds and a variation
// whose gaps are all but one zero are mistakes.
const (
	maxRate      = 1e6
	minVariation = 0.01
	maxVariation = 100
)

// ParseProcess reads constant, poisson or gamma:CV.
func ParseProcess(s string) (a Arrival, err error) {
	name, cv, given := strings.Cut(strings.ToLower(strings.TrimSpace(s)), ":")
	switch {
	case name == "constant" && !given:
		return Arrival{Process: Constant}, nil
	case name == "poisson" && !given:
		return Arrival{Process: Poisson, Variation: 1}, nil
	case name == "gamma" && given:
		v, err := unit.ParseNumber(cv, "a coefficient of variation")
		if err != nil {
			return a, fmt.Errorf("arrival %q, for example gamma:2: %w", s, err)
		}
		if !(v >= minVariation && v <= maxVariation) {
			return a, fmt.Errorf("arrival %q: the coefficient of variation must be a number from %g to %g, for example gamma:2", s, minVariation, float64(maxVariation))
		}
		return Arrival{Process: Gamma, Variation: v}, nil
	}
	return a, fmt.Errorf("arrival %q: use constant, poisson or gamma:CV, for example gamma:2", s)
}

// String is the inverse of ParseProcess.
func (a Arrival) String() string {
	switch a.Process {
	case Poisson:
		return "poisson"
	case Gamma:
		return "gamma:" + strconv.FormatFloat(a.Variation, 'g', -1, 64)
	}
	return "constant"
}

// Check says what is wrong with the rate.
func (a Arrival) Check() error {
	if !(a.Rate > 0 && a.Rate <= maxRate) {
		return fmt.Errorf("rate %g: give requests per second above 0 and up to %g", a.Rate, float64(maxRate))
	}
	return nil
}

// clockEnd is the last arrival that a clock of nanoseconds holds with room behind it.
const (
	clockEnd   = math.MaxInt64 / 2
	clockYears = clockEnd / 1e9 / (365.25 * 24 * 3600)
)

// Times are the first n arrivals, or those before the horizon where that is
// above 0. The first request of a constant rate comes at 0, of a random one
// after its first gap:
//
//	t[i] = i / rate                        constant
//	t[i] = t[i-1] + E / rate               poisson, E ~ exponential with mean 1
//	t[i] = t[i-1] + G cv^2 / rate          gamma,   G ~ gamma with shape 1 / cv^2
//
// Sums run in seconds and are rounded once per arrival, so that errors do not
// add up.
func (a Arrival) Times(n int, horizon time.Duration, rng *rand.Rand) []time.Duration {
	var times []time.Duration
	shape := 1 / (a.Variation * a.Variation)
	sum := 0.0
	for i := 0; i < n; i++ {
		switch a.Process {
		case Constant:
			sum = float64(i) / a.Rate
		case Poisson:
			sum += rng.ExpFloat64() / a.Rate
		case Gamma:
			sum += gamma(shape, rng) / shape / a.Rate
		}
		if sum*1e9 >= clockEnd {
			break // no clock holds it
		}
		t := time.Duration(math.Round(sum * 1e9))
		if horizon > 0 && t >= horizon {
			break
		}
		times = append(times, t)
	}
	return times
}

// gamma draws from the gamma distribution with the shape and scale 1, by
// Marsaglia and Tsang, "A simple method for generating gamma variables", ACM
// Transactions on Mathematical Software 26(3), 2000; shapes below 1 by their
// section 6: gamma(shape + 1) U^(1/shape).
func gamma(shape float64, rng *rand.Rand) float64 {
	if shape < 1 {
		return gamma(shape+1, rng) * math.Pow(1-rng.Float64(), 1/shape)
	}
	d := shape - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if u := 1 - rng.Float64(); math.Log(u) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
