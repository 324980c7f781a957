package plan

import (
	"fmt"
	"maps"
	"strings"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Keys of serving plans beside tp, pp, dp and ep.
const (
	KeyDCP       Key = "dcp"
	KeyReplicas  Key = "replicas"
	KeyWorkers   Key = "workers"
	KeyRedundant Key = "redundant"
)

var servingKeys = []Key{KeyTP, KeyPP, KeyDP, KeyEP, KeyDCP, KeyReplicas, KeyRedundant}

// FixedServing is a partly given layout. Degrees that were not given are 1 in
// Serving and Has tells them apart; a search may set them.
type FixedServing struct {
	Serving Serving
	Workers int // disaggregated only: instances of this role
	given   map[Key]bool
}

// Has tells whether the user gave key k.
func (f *FixedServing) Has(k Key) bool { return f != nil && f.given[k] }

// ServingText is a --plan of serving: Whole, or Prefill and Decode together.
type ServingText struct {
	Whole           *FixedServing
	Prefill, Decode *FixedServing
}

// Disaggregated is the deployment of a text with two roles, nil otherwise.
func (t *ServingText) Disaggregated() *Disaggregated {
	if t.Prefill == nil {
		return nil
	}
	return &Disaggregated{Prefill: t.Prefill.Serving, Decode: t.Decode.Serving,
		PrefillWorkers: t.Prefill.Workers, DecodeWorkers: t.Decode.Workers}
}

// WithWorkers is a text of two roles with these numbers of workers fixed.
func (t *ServingText) WithWorkers(prefill, decode int) *ServingText {
	with := func(f *FixedServing, n int) *FixedServing {
		g := *f
		g.Workers, g.given = n, maps.Clone(f.given)
		if g.given == nil {
			g.given = map[Key]bool{}
		}
		g.given[KeyWorkers] = true
		return &g
	}
	return &ServingText{Prefill: with(t.Prefill, prefill), Decode: with(t.Decode, decode)}
}

// Exact is the text with every key given, those left out as 1: nothing of the layout is
// left to a search.
func (t *ServingText) Exact() *ServingText {
	all := func(f *FixedServing) *FixedServing {
		if f == nil {
			return nil
		}
		g := *f
		g.given = map[Key]bool{KeyWorkers: true}
		for _, k := range servingKeys {
			g.given[k] = true
		}
		return &g
	}
	return &ServingText{Whole: all(t.Whole), Prefill: all(t.Prefill), Decode: all(t.Decode)}
}

// ParseServing reads `key=value` pairs separated by commas, or two such lists
// with their roles: `prefill:...;decode:...`. Errors are one line.
func ParseServing(text string) (*ServingText, error) {
	if text != "" && strings.Trim(text, ",; ") == "" {
		return nil, fmt.Errorf("plan %q holds no key: write tp=8 or leave it out", text)
	}
	if !strings.ContainsAny(text, ":;") {
		f, err := parseDegrees(text, servingKeys)
		return &ServingText{Whole: f}, err
	}
	t := &ServingText{}
	for _, part := range strings.Split(text, ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		role, rest, ok := strings.Cut(part, ":")
		role = strings.ToLower(strings.TrimSpace(role))
		var into **FixedServing
		switch {
		case ok && role == "prefill":
			into = &t.Prefill
		case ok && role == "decode":
			into = &t.Decode
		default:
			return nil, fmt.Errorf("plan part %q has no role: write prefill:tp=4,workers=2;decode:tp=8", part)
		}
		if *into != nil {
			return nil, fmt.Errorf("plan role %q is given twice in %q: keep one", role, text)
		}
		f, err := parseDegrees(rest, []Key{KeyTP, KeyPP, KeyDP, KeyEP, KeyDCP, KeyWorkers, KeyRedundant})
		if err != nil {
			return nil, err
		}
		*into = f
	}
	if t.Prefill == nil || t.Decode == nil {
		return nil, fmt.Errorf("plan %q names one role: give both, as in prefill:tp=4;decode:tp=8", text)
	}
	return t, nil
}

// maxDegree bounds a degree so that products of three stay far inside an int.
const maxDegree = 1 << 16

func parseDegrees(text string, keys []Key) (*FixedServing, error) {
	f := &FixedServing{Serving: Serving{TP: 1, PP: 1, DP: 1, EP: 1, DCP: 1, Replicas: 1}, Workers: 1, given: map[Key]bool{}}
	s := &f.Serving
	fields := map[Key]*int{KeyTP: &s.TP, KeyPP: &s.PP, KeyDP: &s.DP, KeyEP: &s.EP, KeyDCP: &s.DCP,
		KeyReplicas: &s.Replicas, KeyWorkers: &f.Workers, KeyRedundant: &s.Redundant}
	for _, item := range strings.Split(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		key, value, _ := strings.Cut(item, "=")
		k := Key(strings.ToLower(strings.TrimSpace(key)))
		value = strings.TrimSpace(value)
		allowed := false
		for _, a := range keys {
			allowed = allowed || a == k
		}
		switch {
		case !allowed:
			return nil, &UnknownKeyError{string(k), keys}
		case f.given[k]:
			return nil, fmt.Errorf("plan key %q is given twice in %q: keep one", k, text)
		}
		n, err := unit.ParseCount(value)
		if k == KeyRedundant && value == "0" {
			f.given[k] = true
			continue
		}
		if err != nil || n < 1 || n > maxDegree {
			return nil, fmt.Errorf("plan key %s=%q is not a whole number from 1 to %d: write for example %s=8", k, value, maxDegree, k)
		}
		*fields[k], f.given[k] = int(n), true
	}
	return f, nil
}

// UnknownKeyError is a key that a serving plan does not have where it stands.
type UnknownKeyError struct {
	Key  string
	Keys []Key // that it may have there
}

func (e *UnknownKeyError) Error() string {
	return fmt.Sprintf("plan key %q is not one of a serving plan here: use %s", e.Key, joinKeys(e.Keys))
}

func joinKeys(keys []Key) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}
