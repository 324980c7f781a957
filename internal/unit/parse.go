package unit

import (
	"fmt"
	"math/big"
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
// units, and whether zero makes sense.
type quantity struct {
	what, example string
	units         []suffix
	zero          bool
}

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
	byteRateQ = quantity{what: "a data rate", example: "50GB/s, or 400Gb/s in bits",
		units: join(with(siPrefixes, "B/s", 1), with(binaryPrefixes, "B/s", 1), with(siPrefixes, "b/s", 8), with(siPrefixes, "bps", 8))}
	flopRateQ = quantity{what: "a compute rate", example: "989TFLOP/s",
		units: join(with(siPrefixes, "FLOP/s", 1), with(siPrefixes, "FLOPS", 1))}
	secondsQ = quantity{what: "a time", example: "0.193ms", zero: true,
		units: []suffix{{"ns", 1, 1e9}, {"us", 1, 1e6}, {"µs", 1, 1e6}, {"ms", 1, 1e3}, {"s", 1, 1}, {"min", 60, 1}, {"h", 3600, 1}, {"d", 86400, 1}}}
	countQ = quantity{what: "a count", example: "15360 or 14.8T", zero: true,
		units: []suffix{{"", 1, 1}, {"k", 1e3, 1}, {"K", 1e3, 1}, {"M", 1e6, 1}, {"B", 1e9, 1}, {"G", 1e9, 1}, {"T", 1e12, 1}, {"Ki", 1 << 10, 1}, {"Mi", 1 << 20, 1}}}
	moneyQ = quantity{what: "a price", example: "2, $2 or 2USD", zero: true,
		units: []suffix{{"", 1, 1}, {"USD", 1, 1}}}
	fractionQ = quantity{what: "a fraction", example: "0.85 or 85%", zero: true,
		units: []suffix{{"", 1, 1}, {"%", 1, 100}}}
)

// ParseBytes reads an amount of memory such as 80GB (1e9) or 64GiB (2^30). It
// must come to whole bytes.
func ParseBytes(s string) (Bytes, error) {
	n, err := bytesQ.whole(s)
	return Bytes(n), err
}

// ParseCount reads a whole number of tokens, sequences or GPUs such as 15360,
// 4Ki (4096), 1.5M or 14.8T; k, M, B (or G) and T are powers of 1000.
func ParseCount(s string) (int64, error) { return countQ.whole(s) }

// ParseByteRate reads a data rate above zero such as 50GB/s or, in bits,
// 400Gb/s: an upper-case B is bytes, a lower-case b bits.
func ParseByteRate(s string) (ByteRate, error) {
	v, err := byteRateQ.float(s)
	return ByteRate(v), err
}

// ParseFLOPRate reads a compute rate above zero such as 989TFLOP/s.
func ParseFLOPRate(s string) (FLOPRate, error) {
	v, err := flopRateQ.float(s)
	return FLOPRate(v), err
}

// ParseSeconds reads a time such as 0.193ms, 19.926s, 5min, 3h or 54d.
func ParseSeconds(s string) (Seconds, error) {
	v, err := secondsQ.float(s)
	return Seconds(v), err
}

// ParseMoney reads US dollars such as 2, $2 or 2USD.
func ParseMoney(s string) (float64, error) {
	rest, dollar := strings.CutPrefix(strings.TrimSpace(s), "$")
	if dollar && strings.HasSuffix(rest, "USD") {
		return 0, moneyQ.fail(s, "names its currency twice")
	}
	v, err := moneyQ.float(rest)
	if err != nil {
		return 0, moneyQ.fail(s, "")
	}
	return v, nil
}

// ParseFraction reads a share from 0 to 1 such as 0.85 or 85%.
func ParseFraction(s string) (float64, error) {
	v, err := fractionQ.float(s)
	if err == nil && v > 1 {
		return 0, fractionQ.fail(s, "is above 1")
	}
	return v, err
}

// float reads s as SI.
func (q *quantity) float(s string) (float64, error) {
	r, err := q.exact(s)
	if err != nil {
		return 0, err
	}
	v, _ := r.Float64()
	return v, nil
}

// whole reads s as an exact integer that fits int64.
func (q *quantity) whole(s string) (int64, error) {
	r, err := q.exact(s)
	switch {
	case err != nil:
		return 0, err
	case !r.IsInt():
		return 0, q.fail(s, "does not come to a whole number")
	case !r.Num().IsInt64():
		return 0, q.fail(s, "is too large")
	}
	return r.Num().Int64(), nil
}

// exact reads s as an exact ratio in SI, so that 14.8T is 14,800,000,000,000
// and not the float beside it.
func (q *quantity) exact(s string) (*big.Rat, error) {
	text := strings.TrimSpace(s)
	number, unit := splitNumber(text)
	if number == "" {
		if strings.HasPrefix(text, "-") {
			return nil, q.fail(s, "is negative")
		}
		return nil, q.fail(s, "")
	}
	value, ok := new(big.Rat).SetString(number)
	if !ok {
		return nil, q.fail(s, "")
	}
	if value.Sign() == 0 && !q.zero {
		return nil, q.fail(s, "is zero")
	}
	if unit == "" && value.Sign() == 0 {
		return value, nil
	}
	for _, u := range q.units {
		if u.name == unit {
			return value.Mul(value, big.NewRat(u.num, u.den)), nil
		}
	}
	if unit == "" {
		return nil, q.fail(s, "has no unit")
	}
	return nil, q.fail(s, "has an unknown unit "+quote(unit))
}

// maxDigits bounds a number's length, and with it the cost of exact arithmetic.
const maxDigits = 40

// splitNumber cuts a plain decimal, with an exponent of at most two digits,
// from the unit behind it. number is empty where s does not start with one.
func splitNumber(s string) (number, unit string) {
	i := digits(s, 0)
	if i > 0 && i < len(s) && s[i] == '.' {
		if j := digits(s, i+1); j > i+1 {
			i = j
		}
	}
	if i > 0 && i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if k := digits(s, j); k > j && k <= j+2 {
			i = k
		}
	}
	if i > maxDigits {
		return "", s
	}
	return s[:i], strings.TrimLeft(s[i:], " ")
}

// digits returns the end of the run of digits that starts at i.
func digits(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

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
	}
	var names []string
	for _, u := range q.units {
		if u.name != "" {
			names = append(names, u.name)
		}
	}
	return fmt.Errorf("%s as %s %s: write for example %s (units: %s)", quote(s), q.what, why, q.example, strings.Join(names, " "))
}
