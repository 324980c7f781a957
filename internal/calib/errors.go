package calib

import (
	"math"
	"slices"
)

// TableError is how well the constants predict one table's rows that were kept
// out of the fit.
type TableError struct {
	GPU, Table, What string
	Rows             int
	Median, Mean     float64 // of |predicted/measured - 1|
}

// Unexplained is how far a fit may leave what it was fitted to off on the median, as a share of it: half as
// much again as predictions of published runs are off on the mean with nothing fitted to them at the target
// for mixtures of experts, 18 % (docs/accuracy.md). The stored constants leave no kernel more than 22 % off.
const Unexplained = 0.27

// errorsOf gathers |predicted/measured - 1|.
type errorsOf struct{ list []float64 }

func (e *errorsOf) add(predicted, measured float64) {
	e.list = append(e.list, math.Abs(predicted/measured-1))
}

// median is NaN of nothing.
func (e *errorsOf) median() float64 {
	if len(e.list) == 0 {
		return math.NaN()
	}
	s := slices.Clone(e.list)
	slices.Sort(s)
	return s[len(s)/2]
}

// mean is NaN of nothing.
func (e *errorsOf) mean() float64 {
	sum := 0.0
	for _, v := range e.list {
		sum += v
	}
	return sum / float64(len(e.list))
}

func (e *errorsOf) table(s *source, what string) TableError {
	return TableError{s.gpu, s.table, what, len(e.list), round(e.median()), round(e.mean())}
}

// round keeps three digits after the point, as the constants' files do.
func round(v float64) float64 { return math.Round(v*1e3) / 1e3 }
