package unit

import (
	"math"
	"strings"
	"testing"
)

// flopRateQ reads what FormatFLOPRate prints.
var flopRateQ = quantity{what: "a compute rate", most: maxRate, example: "989TFLOP/s", units: with(siPrefixes, "FLOP/s", 1)}

// parsers reads one text as every quantity.
var parsers = map[string]func(string) (float64, error){
	"bytes":    func(s string) (float64, error) { v, err := ParseBytes(s); return float64(v), err },
	"count":    func(s string) (float64, error) { v, err := ParseCount(s); return float64(v), err },
	"byterate": func(s string) (float64, error) { v, err := ParseByteRate(s); return float64(v), err },
	"floprate": flopRateQ.float,
	"seconds":  func(s string) (float64, error) { v, err := ParseSeconds(s); return float64(v), err },
	"money":    ParseMoney,
	"number":   func(s string) (float64, error) { return ParseNumber(s, "a rate") },
	"fraction": ParseFraction,
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		kind, in string
		want     float64
	}{
		{"bytes", "80GB", 80e9},       // SI
		{"bytes", "64GiB", 64 << 30},  // binary
		{"bytes", "1.5 kB", 1500},     // a space and a fraction that comes out whole
		{"bytes", "0", 0},             // zero needs no unit
		{"bytes", "1e3MB", 1e9},       // exponent
		{"byterate", "50GB/s", 50e9},  // bytes
		{"byterate", "400Gb/s", 50e9}, // bits: eight to the byte
		{"byterate", "400Gbps", 50e9}, // the other spelling of bits
		{"byterate", "1GiB/s", 1 << 30},
		{"seconds", "0.193ms", 0.193e-3},
		{"seconds", "19.926s", 19.926},
		{"seconds", "120.96us", 120.96e-6},
		{"seconds", "3h", 10800},
		{"seconds", "54d", 54 * 86400},
		{"seconds", "5min", 300},
		{"seconds", "0", 0},
		{"count", "14.8T", 14_800_000_000_000},
		{"count", "15360", 15360},
		{"count", "1.5M", 1_500_000},
		{"count", "4K", 4000},
		{"count", "4Ki", 4096},
		{"count", "9223372036854775807", math.MaxInt64},
		{"money", "$2", 2},
		{"money", "2.5USD", 2.5},
		{"number", "1e3", 1000},
		{"number", "2.5", 2.5},
		{"fraction", "85%", 0.85},
		{"fraction", "1", 1},
	} {
		got, err := parsers[c.kind](c.in)
		if err != nil || got != c.want {
			t.Errorf("%s %q = %v, %v, want %v", c.kind, c.in, got, err, c.want)
		}
	}
}

// The exact reader keeps what a float would round.
func TestParseCountExact(t *testing.T) {
	if n, err := ParseCount("9.007199254740993T"); err == nil {
		t.Errorf("a fraction of a token passed as %d", n)
	}
	if n, _ := ParseCount("9.007199254741T"); n != 9007199254741 {
		t.Errorf("9.007199254741T = %d", n)
	}
}

func TestParseBad(t *testing.T) {
	for _, c := range []struct{ kind, in, says string }{
		{"byterate", "50", "has no unit"},
		{"byterate", "50gb/s", `unknown unit "gb/s"`},
		{"byterate", "50GB", `unknown unit "GB"`},
		{"byterate", "0GB/s", "is zero"},
		{"byterate", "-5GB/s", "is negative"},
		{"bytes", "80Gb", `unknown unit "Gb"`},
		{"bytes", "80G", `unknown unit "G"`},
		{"bytes", "0.5B", "whole number"},
		{"bytes", "10EB", "too large"},
		{"seconds", "5m", `unknown unit "m"`},
		{"seconds", "1h30min", "unknown unit"},
		{"seconds", "NaN", "not a number"},
		{"seconds", "infs", "not a number"},
		{"seconds", "1e999s", "exponent beyond e99"},
		{"count", "1e300", "exponent beyond e99"},
		{"count", "2.000", "part thousands"}, // two, or two thousand
		{"count", "1.024", "part thousands"},
		{"count", "024", "a zero in front"}, // of the list 1,024
		{"number", "1e300", "exponent beyond e99"},
		{"number", "0x10", "unknown unit"},
		{"number", "inf", "not a number"},
		{"number", "-1", "is negative"},
		{"seconds", "1e99d", "is too large"},
		{"seconds", "99999999999999d", "is too large"},
		{"byterate", "1e99GB/s", "is too large"},
		{"money", "1e99", "is too large"},
		{"count", "15,360", "unknown unit"},
		{"count", "1.5", "whole number"},
		{"count", "0x10", "unknown unit"},
		{"count", "1.5m", "unknown unit"},
		{"count", "", "not a number"},
		{"count", strings.Repeat("9", 100), "not a number"},
		{"money", "-2", "as a price"},
		{"money", "$2USD", "twice"},
		{"money", "2EUR", "units: USD"},
		{"fraction", "1.2", "above 1"},
		{"fraction", "120%", "above 1"},
	} {
		_, err := parsers[c.kind](c.in)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %q: error %v, want one line with %q", c.kind, c.in, err, c.says)
		}
	}
}

// Whatever is typed, a reader gives a finite number that is not negative or an
// error of one line, and what it read survives printing and reading again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"80GB", "64GiB", "400Gb/s", "0.193ms", "14.8T", "$2", "85 %", "989TFLOP/s", "-1", "1e99s", "9e18", "1.5.5GB", "0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for kind, parse := range parsers {
			v, err := parse(s)
			if err != nil {
				if strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 600 {
					t.Errorf("%s %q: not one short line: %q", kind, s, err)
				}
				continue
			}
			if !(v >= 0) || math.IsInf(v, 0) {
				t.Errorf("%s %q = %v", kind, s, v)
			}
			if text, ok := printed(kind, v); ok {
				again, err := parse(text)
				if err != nil || math.Abs(again-v) > 0.006*v {
					t.Errorf("%s %q = %v, printed %q, read again %v, %v", kind, s, v, text, again, err)
				}
			}
		}
	})
}

// printed is the text of a value; ok is false for values so small or large that
// no unit of the printers reaches them.
func printed(kind string, v float64) (text string, ok bool) {
	switch kind {
	case "bytes":
		return FormatBytes(Bytes(v)), v < 1<<62
	case "count":
		return FormatCount(int64(v)), v < 1<<62
	case "byterate":
		return FormatByteRate(ByteRate(v)), v >= 1 && v < 0.9*maxRate
	case "floprate":
		return FormatFLOPRate(FLOPRate(v)), v >= 1 && v < 0.9*maxRate
	case "seconds":
		return FormatSeconds(Seconds(v)), v == 0 || v >= 1e-9 && v < 0.9*maxSeconds
	}
	return "", false
}
