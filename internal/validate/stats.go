package validate

import (
	"math"
	"slices"
)

// Errors are the error statistics of a group of predictions; fractions, 0.08 is
// 8 %. Bias is the median of predicted/measured - 1: above 0 is too optimistic
// for a rate.
type Errors struct {
	N         int     `json:"n"`
	MedianAPE float64 `json:"median_ape"`
	MAPE      float64 `json:"mape"`
	P90APE    float64 `json:"p90_ape"`
	Bias      float64 `json:"bias"`
	// Coverage is the share of measured values in the 80 % range of their predictions,
	// of the rows that carry one.
	Coverage *float64 `json:"range_coverage,omitempty"`
	*Spread           // of requests only
}

// covered counts measurements within their ranges.
type covered struct{ in, n int }

func (c *covered) add(measured, low, high float64) {
	c.n++
	if measured >= low && measured <= high {
		c.in++
	}
}

// within is add of a row that may carry no range.
func (c *covered) within(measured float64, r *[2]float64) {
	if r != nil {
		c.add(measured, r[0], r[1])
	}
}

func (c *covered) merge(d covered) { c.in, c.n = c.in+d.in, c.n+d.n }

// share is nil of nothing.
func (c *covered) share() *float64 {
	if c.n == 0 {
		return nil
	}
	s := float64(c.in) / float64(c.n)
	return &s
}

// errorsOf sums up the ratios predicted/measured; no ratios are all zeros.
func errorsOf(ratios []float64) Errors {
	if len(ratios) == 0 {
		return Errors{}
	}
	abs := make([]float64, len(ratios))
	sum := 0.0
	for i, r := range ratios {
		abs[i] = math.Abs(r - 1)
		sum += abs[i]
	}
	slices.Sort(abs)
	return Errors{N: len(ratios), MedianAPE: median(abs), MAPE: sum / float64(len(abs)), P90APE: quantile(abs, 0.9), Bias: median(ratios) - 1}
}

// median is the middle value, or the mean of the middle two.
func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return quantile(v, 0.5)
}

// quantile interpolates linearly between the sorted values around q (0 to 1); 0
// of none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	part := at - float64(low)
	return sorted[low]*(1-part) + sorted[low+1]*part
}
