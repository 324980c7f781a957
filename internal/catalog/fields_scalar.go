package catalog

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// text reads a string; "" where absent.
func (f *fields) text(key string) string {
	n := f.take(key)
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || strings.TrimSpace(n.Value) == "" {
		f.fail(n, key, "is %s, not a text: quote it", nodeKind(n))
	}
	return n.Value
}

// flag reads true or false; missing is what an absent key means.
func (f *fields) flag(key string, missing bool) bool {
	n := f.take(key)
	if n == nil {
		return missing
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		f.fail(n, key, "is %s: give true or false", nodeKind(n))
	}
	return strings.EqualFold(n.Value, "true")
}

// number reads a positive finite number in the unit that the key spells; ok is
// false where the key is absent.
func (f *fields) number(key string) (v float64, ok bool) {
	n := f.take(key)
	if n == nil {
		return 0, false
	}
	return f.positive(n, key), true
}

// positive reads a scalar node as a positive finite number.
func (f *fields) positive(n *yaml.Node, key string) float64 {
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || err != nil {
		f.fail(n, key, "is %s: give a plain number%s", nodeKind(n), keyUnit(key))
		return 1
	}
	if !(v > 0) || math.IsInf(v, 0) {
		f.fail(n, key, "is %s: give a number above 0, or leave the key out if it is not known", n.Value)
		return 1
	}
	return v
}

// count reads a whole number from 1 to most; missing is what an absent key means.
func (f *fields) count(key string, missing, most int64) int64 {
	n := f.take(key)
	if n == nil {
		return missing
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" ||
		err != nil && !errors.Is(err, strconv.ErrRange) {
		f.fail(n, key, "is %s: give a whole number", nodeKind(n))
		return 1
	}
	if err != nil || v < 1 || v > most {
		f.fail(n, key, "is %s: give 1 to %d", nodeKind(n), most)
		return 1
	}
	return v
}

// word reads one of the allowed texts; "" where absent.
func (f *fields) word(key string, allowed []string) string {
	s := f.text(key)
	if s != "" && !slices.Contains(allowed, s) {
		f.fail(f.keys[key], key, "is %s: use one of %s", quote(s), strings.Join(allowed, ", "))
	}
	return s
}

// keyUnits are the endings that spell a key's unit, with what they are called.
var keyUnits = []struct{ suffix, name string }{
	{"_gb_per_s", "GB/s"}, {"_gb_per_s_per_gpu", "GB/s"}, {"_tflops", "TFLOP/s"}, {"_tops", "TOP/s"}, {"_gb", "GB"},
	{"_us", "us"}, {"_w", "W"}, {"_w_per_gpu", "W"}, {"_ghz", "GHz"}, {"_hours", "hours"}, {"price_usd_per_gpu_hour", "USD"},
}

// keyUnit says the unit of a key for a complaint, empty where it has none.
func keyUnit(key string) string {
	for _, u := range keyUnits {
		if strings.HasSuffix(key, u.suffix) {
			return " in " + u.name
		}
	}
	return ""
}
