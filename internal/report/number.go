package report

import (
	"strconv"
	"strings"
)

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

// Plural prints a count with its noun, which takes an s, or es after ch, unless
// n is one.
func Plural(n int64, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		noun += "e"
	}
	return Grouped(n) + " " + noun + "s"
}
