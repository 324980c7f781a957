package unit

import (
	"fmt"
	"strings"
)

// suffix is one accepted unit of a quantity: what one of it is in SI, as an
// exact ratio.
type suffix struct {
	name string
	num  int64
	den  int64
}

// quantity is a kind of input: what it is called in complaints, an example, its
// units, whether zero makes sense, and its largest value in SI, beyond which it is
// a slip of the keyboard (0: what its type holds).
type quantity struct {
	what, example string
	units         []suffix
	zero          bool
	most          float64
}

// The largest values: twice the age of the universe in seconds, and far beyond the
// fastest machine and the dearest run.
const (
	maxSeconds = 1e18
	maxRate    = 1e24
	maxMoney   = 1e15
)

// siPrefixes and binaryPrefixes scale bytes, bits and FLOPs. Decimal kilo is
// written k or K; a binary prefix always carries its i.
var (
	siPrefixes     = []suffix{{"", 1, 1}, {"k", 1e3, 1}, {"K", 1e3, 1}, {"M", 1e6, 1}, {"G", 1e9, 1}, {"T", 1e12, 1}, {"P", 1e15, 1}, {"E", 1e18, 1}}
	binaryPrefixes = []suffix{{"Ki", 1 << 10, 1}, {"Mi", 1 << 20, 1}, {"Gi", 1 << 30, 1}, {"Ti", 1 << 40, 1}, {"Pi", 1 << 50, 1}}
)

// with appends a unit of den parts to every prefix.
func with(prefixes []suffix, name string, den int64) []suffix {
	out := make([]suffix, 0, len(prefixes))
	for _, p := range prefixes {
		out = append(out, suffix{p.name + name, p.num, den})
	}
	return out
}

// join concatenates lists of units.
func join(lists ...[]suffix) (out []suffix) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

var (
	bytesQ = quantity{what: "an amount of memory", example: "80GB or 64GiB", zero: true,
		units: join(with(siPrefixes, "B", 1), with(binaryPrefixes, "B", 1))}
	byteRateQ = quantity{what: "a data rate", most: maxRate, example: "50GB/s, or 400Gb/s in bits",
		units: join(with(siPrefixes, "B/s", 1), with(binaryPrefixes, "B/s", 1), with(siPrefixes, "b/s", 8), with(siPrefixes, "bps", 8))}
	secondsQ = quantity{what: "a time", example: "0.193ms", zero: true, most: maxSeconds,
		units: []suffix{{"ns", 1, 1e9}, {"us", 1, 1e6}, {"µs", 1, 1e6}, {"ms", 1, 1e3}, {"s", 1, 1}, {"min", 60, 1}, {"h", 3600, 1}, {"d", 86400, 1}}}
	countQ = quantity{what: "a count", example: "15360 or 14.8T", zero: true,
		units: []suffix{{"", 1, 1}, {"k", 1e3, 1}, {"K", 1e3, 1}, {"M", 1e6, 1}, {"B", 1e9, 1}, {"G", 1e9, 1}, {"T", 1e12, 1}, {"Ki", 1 << 10, 1}, {"Mi", 1 << 20, 1}}}
	moneyQ = quantity{what: "a price", example: "2, $2 or 2USD", zero: true, most: maxMoney,
		units: []suffix{{"", 1, 1}, {"USD", 1, 1}}}
	numberQ   = quantity{example: "2.5", zero: true, units: []suffix{{"", 1, 1}}}
	fractionQ = quantity{what: "a fraction", example: "0.85 or 85%", zero: true,
		units: []suffix{{"", 1, 1}, {"%", 1, 100}}}
)

// quote prints input inside an error: one line, bounded.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}

// fail is the error for input s: what it is not, why, and what is accepted.
func (q *quantity) fail(s, why string) error {
	if why == "" {
		why = "is not a number with a unit"
		if len(q.units) == 1 {
			why = "is not a number"
		}
	}
	var names []string
	for _, u := range q.units {
		if u.name != "" {
			names = append(names, u.name)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("%s as %s %s: write for example %s", quote(s), q.what, why, q.example)
	}
	return fmt.Errorf("%s as %s %s: write for example %s (units: %s)", quote(s), q.what, why, q.example, strings.Join(names, " "))
}
