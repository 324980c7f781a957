package report

import (
	"fmt"
	"math"
	"strconv"
)

// Percent prints a fraction with one decimal: 0.0834 is "8.3 %".
func Percent(fraction float64) string {
	if math.IsNaN(fraction) || math.IsInf(fraction, 0) {
		return "-"
	}
	return strconv.FormatFloat(100*fraction, 'f', 1, 64) + " %"
}

// Grouped prints an exact count with commas: 671,026,404,352.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	out := s[:(len(s)+2)%3+1]
	for i := len(out); i < len(s); i += 3 {
		out += "," + s[i:i+3]
	}
	return sign + out
}

// Plural prints a count with its noun, which takes an s unless n is one.
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
