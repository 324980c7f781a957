package catalog

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/ridgeline/ridgeline/internal/note"
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
	if i := strings.IndexFunc(n.Value, invisible); i >= 0 {
		f.fail(n, key, "holds the control character %U: remove it", []rune(n.Value[i:])[0])
	}
	return n.Value
}

// invisible tells characters that steer a terminal or hide from the eye; lines
// of a longer text may end.
func invisible(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}

// label reads a text of one line.
func (f *fields) label(key string) string {
	s := f.text(key)
	if strings.ContainsAny(s, "\n\t") {
		f.fail(f.keys[key], key, "is more than one line: shorten it")
	}
	return s
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
	return f.positive(n, key, key), true
}

// positive reads a scalar node as a positive number within the range of the unit
// that unitKey spells; the two keys differ where the node is a figure's value.
func (f *fields) positive(n *yaml.Node, key, unitKey string) float64 {
	v, err := strconv.ParseFloat(n.Value, 64)
	u := unitOf(unitKey)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || err != nil && !errors.Is(err, strconv.ErrRange) {
		f.fail(n, key, "is %s: give a plain number%s", nodeKind(n), u.in())
		return 1
	}
	switch {
	case !(v > 0):
		f.fail(n, key, "is %s: give a number above 0, or leave the key out if it is not known", quote(n.Value))
	case v < u.least || v > u.most:
		f.refuse(n, key, note.FigureRange, "value least most", "is %s: give %g to %g%s, or leave the key out if it is not known", quote(n.Value), u.least, u.most, u.in())
	default:
		return v
	}
	return 1
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
		f.refuse(n, key, note.FigureNotWhole, "value", "is %s: give a whole number", nodeKind(n))
		return 1
	}
	if err != nil || v < 1 || v > most {
		f.refuse(n, key, note.FigureRange, "value least most", "is %s: give %d to %d", nodeKind(n), 1, most)
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

// keyUnit is an ending that spells a key's unit: what it is called and the range
// of figures, wide enough for any machine and narrow enough that no sum, product
// or ratio of a few of them leaves float64.
type keyUnit struct {
	suffix, name string
	least, most  float64
	si           float64 // of one of the unit
}

var keyUnits = []keyUnit{
	{"_gb_per_s", "GB/s", 1e-3, 1e9, giga}, {"_gb_per_s_per_gpu", "GB/s", 1e-3, 1e9, giga}, {"_tflops", "TFLOP/s", 1e-3, 1e6, tera}, {"_tops", "TOP/s", 1e-3, 1e6, tera},
	{"_gb", "GB", 1e-3, 1e6, giga}, {"_us", "us", 1e-3, 1e6, micro}, {"_w", "W", 1e-3, 1e6, 1}, {"_w_per_gpu", "W", 1e-3, 1e6, 1},
	{"_ghz", "GHz", 1e-3, 1e3, giga}, {"gflops", "GFLOP/s", 1e-3, 1e9, giga}, {"_hours", "hours", 1e-2, 1e9, 3600}, {"price_usd_per_gpu_hour", "USD", 1e-6, 1e6, 1},
	{"oversubscription", "", 1, 1e4, 1},
}

// unitOf is the unit of a key; a plain number where it spells none.
func unitOf(key string) keyUnit {
	for _, u := range keyUnits {
		if strings.HasSuffix(key, u.suffix) {
			return u
		}
	}
	return keyUnit{least: 1e-9, most: 1e9, si: 1}
}

// KeyUnit is the unit that a key of a machine file spells, "" where it spells none, and
// one of it in SI: GB/s and 1e9 of achieved.hbm_gb_per_s.
func KeyUnit(key string) (name string, si float64) {
	u := unitOf(key)
	return u.name, u.si
}

// in says the unit for a complaint, empty where there is none.
func (u keyUnit) in() string {
	if u.name == "" {
		return ""
	}
	return " in " + u.name
}
