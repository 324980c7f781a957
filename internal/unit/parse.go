package unit

import (
	"math/big"
	"strings"
)

// ParseBytes reads an amount of memory such as 80GB (1e9) or 64GiB (2^30). It
// must come to whole bytes.
func ParseBytes(s string) (Bytes, error) {
	n, err := bytesQ.whole(s)
	return Bytes(n), err
}

// ParseCount reads a whole number of tokens, sequences or GPUs such as 15360,
// 4Ki (4096), 1.5M or 14.8T; k, M, B (or G) and T are powers of 1000. What may be a
// group of thousands, as in 2.000, is an error: many languages write 2000 so.
func ParseCount(s string) (int64, error) { return countQ.whole(s) }

// ParseByteRate reads a data rate above zero such as 50GB/s or, in bits,
// 400Gb/s: an upper-case B is bytes, a lower-case b bits.
func ParseByteRate(s string) (ByteRate, error) {
	v, err := byteRateQ.float(s)
	return ByteRate(v), err
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
	return moneyQ.float(rest)
}

// ParseFraction reads a share from 0 to 1 such as 0.85 or 85%.
func ParseFraction(s string) (float64, error) {
	v, err := fractionQ.float(s)
	if err == nil && v > 1 {
		return 0, fractionQ.fail(s, "is above 1")
	}
	return v, err
}

// ParseNumber reads a plain number that is not negative, such as 2.5 or 1e-3; what
// names it in complaints.
func ParseNumber(s, what string) (float64, error) {
	q := numberQ
	q.what = what
	return q.float(s)
}

// float reads s as SI.
func (q *quantity) float(s string) (float64, error) {
	r, err := q.exact(s)
	if err != nil {
		return 0, err
	}
	v, _ := r.Float64()
	if q.most > 0 && v > q.most {
		return 0, q.fail(s, "is too large")
	}
	return v, nil
}

// whole reads s as an exact integer that fits int64.
func (q *quantity) whole(s string) (int64, error) {
	r, err := q.exact(s)
	switch {
	case err != nil:
		return 0, err
	case grouped(strings.TrimSpace(s)):
		return 0, q.fail(s, "has a point where some languages part thousands")
	case padded(s):
		return 0, q.fail(s, "has a zero in front")
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
	if exponentDigits(number) > maxExponent {
		return nil, q.fail(s, "has an exponent beyond e99")
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

// grouped tells that a number without a unit could be parted into thousands by its
// point, as in 2.000, which is two or two thousand.
func grouped(s string) bool {
	front, group, cut := strings.Cut(s, ".")
	return cut && len(group) == 3 && front != "" && len(front) <= 3 && digits(front, 0) == len(front) && digits(group, 0) == 3 && front[0] != '0'
}

// padded tells that a whole number begins with a zero, as what a list makes of 1,024.
func padded(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) > 1 && s[0] == '0' && digits(s, 0) > 1
}

// maxDigits bounds a number's length, and with it the cost of exact arithmetic.
const maxDigits = 40

// splitNumber cuts a plain decimal, with an exponent or none, from the unit behind it.
// number is empty where s does not start with one.
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
		if k := digits(s, j); k > j {
			i = k
		}
	}
	if i > maxDigits {
		return "", s
	}
	return s[:i], strings.TrimLeft(s[i:], " ")
}

// maxExponent is the most digits of an exponent, which bounds exact arithmetic, too.
const maxExponent = 2

// exponentDigits counts the digits of a number's exponent.
func exponentDigits(number string) int {
	i := strings.IndexAny(number, "eE")
	if i < 0 {
		return 0
	}
	return len(strings.TrimLeft(number[i+1:], "+-"))
}

// digits returns the end of the run of digits that starts at i.
func digits(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}
