package validate

import (
	"math"
	"slices"
)

// pairs are measured and predicted times of requests, seconds.
type pairs struct{ measured, predicted []float64 }

func (p *pairs) add(measured, predicted float64) {
	p.measured, p.predicted = append(p.measured, measured), append(p.predicted, predicted)
}

// Spread is how far the distributions of two sets of times are apart: errors of
// their statistics, fractions, and the statistics themselves in seconds.
type Spread struct {
	Mean      float64    `json:"mean"`
	P50       float64    `json:"p50"`
	P90       float64    `json:"p90"`
	P99       float64    `json:"p99"`
	Measured  Statistics `json:"measured"`
	Predicted Statistics `json:"predicted"`
}

// Statistics of times in seconds.
type Statistics struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
}

func statistics(v []float64) Statistics {
	if len(v) == 0 {
		return Statistics{}
	}
	v = slices.Clone(v)
	slices.Sort(v)
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return Statistics{Mean: sum / float64(len(v)), P50: quantile(v, 0.5), P90: quantile(v, 0.9), P99: quantile(v, 0.99)}
}

// errors states how far single requests are off, and their distribution.
func (p *pairs) errors() Errors {
	ratios := make([]float64, len(p.measured))
	for i := range ratios {
		ratios[i] = p.predicted[i] / p.measured[i]
	}
	e := errorsOf(ratios)
	m, x := statistics(p.measured), statistics(p.predicted)
	off := func(measured, predicted float64) float64 {
		if measured == 0 {
			return 0
		}
		return math.Abs(predicted/measured - 1)
	}
	e.Spread = &Spread{off(m.Mean, x.Mean), off(m.P50, x.P50), off(m.P90, x.P90), off(m.P99, x.P99), m, x}
	return e
}
