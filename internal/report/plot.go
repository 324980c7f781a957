package report

import (
	"math"
	"strconv"
)

// Chart is a picture of several series over two axes, whatever draws it.
type Chart struct {
	Title  string
	X, Y   Axis
	Series []Series
	Notes  []Note // words beside points, drawn by SVG
}

// Axis names what is drawn along it, with its unit. A logarithmic axis doubles
// from mark to mark, or goes by 1, 2, 5 and 10 where it is Decimal; values at or below 0
// have no place on it.
type Axis struct {
	Label   string
	Log     bool
	Decimal bool
}

// Series is one line of a chart. Dots draws its points without joining them; Reference is
// a line to compare with, without points.
type Series struct {
	Name      string
	Points    []XY
	Dots      bool
	Reference bool
}

// Note is a name beside a point.
type Note struct {
	At   XY
	Text string
}

// XY is one point in the units of the axes.
type XY struct{ X, Y float64 }

// shown tells whether both coordinates have a place on the chart.
func (c *Chart) shown(p XY) bool { return c.X.holds(p.X) && c.Y.holds(p.Y) }

func (a *Axis) holds(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!a.Log || v > 0)
}

// empty tells whether nothing of the chart can be drawn.
func (c *Chart) empty() bool {
	for _, s := range c.Series {
		for _, p := range s.Points {
			if c.shown(p) {
				return false
			}
		}
	}
	return true
}

// extent is the smallest and the largest shown value; +Inf and -Inf of none.
func (c *Chart) extent(of func(XY) float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range c.Series {
		for _, p := range s.Points {
			if c.shown(p) {
				low, high = min(low, of(p)), max(high, of(p))
			}
		}
	}
	return low, high
}

// span is the range of an axis that holds every shown value, wide enough to draw
// and, on a linear axis, from 0.
func (c *Chart) span(axis *Axis, of func(XY) float64) (low, high float64) {
	low, high = c.extent(of)
	switch {
	case axis.Log && low == high:
		return low / 2, high * 2
	case axis.Log:
		return low, high
	case high <= 0:
		return min(low, 0), 1
	}
	return min(low, 0), high
}

func (p XY) x() float64 { return p.X }
func (p XY) y() float64 { return p.Y }

// place is where v lies between low and high, 0 to 1.
func (a *Axis) place(v, low, high float64) float64 {
	if a.Log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return (v - low) / (high - low)
}

// marks are round values between low and high: on a logarithmic axis doubling, or 1, 2 and 5
// of every decade, thinned until there are at most most, else about most equal steps of 1, 2 or 5.
func (a *Axis) marks(low, high float64, most int) []float64 {
	if !(low < high) || most < 2 {
		return nil
	}
	if !a.Log {
		return steps(low, high, most)
	}
	if a.Decimal {
		return decades(low, high, most)
	}
	var list []float64
	for factor := 2.0; ; factor *= factor {
		list = list[:0]
		first := math.Pow(factor, math.Ceil(math.Log(low)/math.Log(factor)-1e-9))
		for v := first; v <= high*(1+1e-9); v *= factor {
			list = append(list, v)
		}
		if len(list) <= most {
			return list
		}
	}
}

// decades are 1, 2 and 5 of every power of ten from low to high, or the powers alone, or
// every second, third ... of them; less than two of these give equal steps.
func decades(low, high float64, most int) []float64 {
	for thin := 0; ; thin++ {
		digits, every := []float64{1}, thin
		if thin == 0 {
			digits, every = []float64{1, 2, 5}, 1
		}
		var list []float64
		for e := math.Floor(math.Log10(low)); e <= math.Log10(high); e++ {
			for _, d := range digits {
				v := d * math.Pow(10, e)
				if math.Mod(e, float64(every)) == 0 && v >= low*(1-1e-9) && v <= high*(1+1e-9) {
					list = append(list, v)
				}
			}
		}
		switch {
		case thin == 0 && len(list) < 3:
			return steps(low, high, 5)
		case len(list) <= most:
			return list
		}
	}
}

// steps are multiples of 1, 2 or 5 times a power of ten from low to high.
func steps(low, high float64, most int) []float64 {
	raw := (high - low) / float64(most)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * power
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw {
			step = m * power
			break
		}
	}
	var list []float64
	first := math.Ceil(low/step - 1e-9)
	for i := 0.0; (first+i)*step <= high*(1+1e-9); i++ {
		list = append(list, (first+i)*step+0) // + 0: no negative zero
	}
	return list
}

// markText prints a mark's value: 0.193, 12.5, 4096, 32k.
func markText(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 3, 64) + "M"
	case a >= 1e4:
		return strconv.FormatFloat(v/1e3, 'g', 3, 64) + "k"
	case a >= 1:
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
