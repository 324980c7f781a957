package unit

import (
	"math"
	"strconv"
)

// scaled is a printing unit: its name and what one of it is in SI.
type scaled struct {
	name string
	size float64
}

var (
	siScale     = []scaled{{"E", 1e18}, {"P", 1e15}, {"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1}}
	countScale  = []scaled{{" T", 1e12}, {" B", 1e9}, {" M", 1e6}, {" k", 1e3}, {"", 1}}
	secondScale = []scaled{{" d", 86400}, {" h", 3600}, {" min", 60}, {" s", 1}, {" ms", 1e-3}, {" us", 1e-6}, {" ns", 1e-9}}
)

// significant is how many digits printed quantities carry.
const significant = 4

// pick chooses the largest unit that v reaches once rounded, so that 999.96 GB
// prints as 1.000 TB.
func pick(v float64, units []scaled) scaled {
	rounding := 1 + 0.5*math.Pow(10, -significant)
	for _, u := range units {
		if math.Abs(v)*rounding >= u.size {
			return u
		}
	}
	return units[len(units)-1]
}

// digitsOf prints v with the significant digits, never in exponent form.
func digitsOf(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	before := int(math.Floor(math.Log10(math.Abs(v)*(1+0.5*math.Pow(10, -significant))))) + 1
	return strconv.FormatFloat(v, 'f', min(max(significant-before, 0), 12), 64)
}

// scaledTo prints v in the unit that suits it.
func scaledTo(v float64, units []scaled, unit string) string {
	u := pick(v, units)
	return digitsOf(v/u.size) + u.name + unit
}

// FormatBytes prints an amount of memory in SI units: 86.00 GB.
func FormatBytes(b Bytes) string { return spaced(float64(b), "B") }

// FormatGB prints bytes in units of 1e9: 80.00 GB.
func FormatGB(b Bytes) string {
	return strconv.FormatFloat(float64(b)/1e9, 'f', 2, 64) + " GB"
}

// FormatByteRate prints a data rate in bytes: 50.00 GB/s.
func FormatByteRate(r ByteRate) string { return spaced(float64(r), "B/s") }

// FormatFLOPRate prints a compute rate: 757.7 TFLOP/s.
func FormatFLOPRate(r FLOPRate) string { return spaced(float64(r), "FLOP/s") }

// FormatFLOPs prints an amount of work: 249.7 GFLOP.
func FormatFLOPs(f FLOPs) string { return spaced(float64(f), "FLOP") }

// spaced prints v with an SI prefix before the unit and a space before both.
func spaced(v float64, unit string) string {
	u := pick(v, siScale)
	return digitsOf(v/u.size) + " " + u.name + unit
}

// FormatSeconds prints a time in the unit that suits it, ns to d: 19.93 s.
func FormatSeconds(s Seconds) string {
	if s == 0 {
		return "0 s"
	}
	return scaledTo(float64(s), secondScale, "")
}

// FormatCount prints a number of parameters, tokens or sequences, exact below a
// million and with two decimals above: 15360, 671.03 B, 14.80 T.
func FormatCount(n int64) string {
	if -1e6 < n && n < 1e6 {
		return strconv.FormatInt(n, 10)
	}
	u := pick(float64(n), countScale)
	return strconv.FormatFloat(float64(n)/u.size, 'f', 2, 64) + u.name
}

// FormatPercent prints a fraction as per cent with one decimal: 76.6 %.
func FormatPercent(fraction float64) string {
	return strconv.FormatFloat(100*fraction, 'f', 1, 64) + " %"
}

// FormatUSD prints money: 5.33 M USD, 2.00 USD, 0.004321 USD.
func FormatUSD(v float64) string {
	if v != 0 && math.Abs(v) < 0.1 {
		return digitsOf(v) + " USD"
	}
	u := pick(v, countScale)
	return strconv.FormatFloat(v/u.size, 'f', 2, 64) + u.name + " USD"
}
