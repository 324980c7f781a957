package argv

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Unknown are the flags of a line that the list does not have, once each, in
// order of appearance.
func (c *Line) Unknown() (names []string) {
	for _, a := range c.Args {
		if a.Flag == nil && a.Word != "" && !slices.Contains(names, a.Word) {
			names = append(names, a.Word)
		}
	}
	return names
}

// Deprecated are the flags of a line that the engine announces to drop.
func (c *Line) Deprecated() (names []string) {
	for _, a := range c.Args {
		if a.Flag != nil && a.Flag.Deprecated && !slices.Contains(names, a.Word) {
			names = append(names, a.Word)
		}
	}
	return names
}

// Repeated are the flags that a line gives more than once though only the last
// one counts.
func (c *Line) Repeated() (names []string) {
	seen := map[string]bool{}
	for _, a := range c.Args {
		if a.Flag == nil || a.Flag.Multiple || a.Flag.Nargs == "append" || c.List.rules.oneDash && a.Flag.Type == Str {
			continue
		}
		key := a.Flag.Name + "." + a.Path
		if seen[key] && !slices.Contains(names, a.Flag.Name) {
			names = append(names, a.Flag.Name)
		}
		seen[key] = true
	}
	return names
}

// Illegal are values that the list does not allow, each as one line. A value that
// holds an unresolved shell variable is not judged.
func (c *Line) Illegal() (list []string) {
	for i := range c.Args {
		a := &c.Args[i]
		if a.Flag == nil || a.Path != "" {
			continue
		}
		for _, v := range a.Values {
			if err := a.Flag.check(v); err != nil && !strings.Contains(v, "$") {
				list = append(list, err.Error())
			}
		}
	}
	return list
}

// Check judges a command line that Ridgeline wrote: an unknown flag or an illegal
// value is an error, a deprecated flag a warning that names what replaces it.
func (l *List) Check(sub string, words []string) (warnings []string, err error) {
	c, err := l.Parse(sub, words)
	if err != nil {
		return nil, err
	}
	if u := c.Unknown(); len(u) > 0 {
		return nil, fmt.Errorf("%s %s has no flag %s: remove it or take the engine version that has it", l.Engine, l.Version, strings.Join(u, ", "))
	}
	if bad := c.Illegal(); len(bad) > 0 {
		return nil, fmt.Errorf("%s %s: %s", l.Engine, l.Version, bad[0])
	}
	for i := range c.Args {
		a := &c.Args[i]
		switch {
		case a.Flag == nil:
		case a.Flag.Ends:
			return nil, fmt.Errorf("flag %s ends %s %s: remove it", a.Word, l.Engine, l.Version)
		case a.Path != "" || a.Flag.Type == JSON && a.Flag.JSONClass != "":
			if err := l.checkKeys(a); err != nil {
				return nil, err
			}
		}
	}
	for _, d := range c.Deprecated() {
		w := fmt.Sprintf("flag %s is deprecated in %s %s", d, l.Engine, l.Version)
		if by := l.find(sub, d).flag.ReplacedBy; by != "" {
			w += ": use " + by
		}
		warnings = append(warnings, w)
	}
	return warnings, nil
}

// checkKeys judges the keys of a JSON flag against its class.
func (l *List) checkKeys(a *Arg) error {
	class := l.JSONClasses[a.Flag.JSONClass]
	if class == nil {
		return nil
	}
	known := func(key string) bool {
		return slices.ContainsFunc(class, func(f Flag) bool { return f.Name == key })
	}
	if a.Path != "" {
		key, _, _ := strings.Cut(a.Path, ".")
		if !known(key) {
			return fmt.Errorf("flag %s has no key %q in %s %s", a.Flag.Name, key, l.Engine, l.Version)
		}
		return nil
	}
	for _, v := range a.Values {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(v), &object); err != nil {
			return fmt.Errorf("flag %s takes a JSON object, not %q", a.Flag.Name, v)
		}
		for key := range object {
			if !known(key) {
				return fmt.Errorf("flag %s has no key %q in %s %s", a.Flag.Name, key, l.Engine, l.Version)
			}
		}
	}
	return nil
}

// check judges one value.
func (f *Flag) check(v string) error {
	if slices.Contains(f.Also, v) || slices.Contains(f.Also, string(Str)) || f.Nullable && strings.EqualFold(v, "none") {
		return nil
	}
	var ok bool
	want := string(f.Type)
	switch f.Type {
	case Int:
		_, err := f.Int(v)
		ok, want = err == nil, "a whole number"
	case Float:
		_, err := strconv.ParseFloat(v, 64)
		ok, want = err == nil, "a number"
	case Bool:
		ok, want = slices.Contains([]string{"true", "false", "True", "False", "1", "0"}, v), "true or false"
	case Enum:
		ok, want = f.ChoicesOpen || slices.Contains(f.Choices, v), "one of "+strings.Join(f.Choices, ", ")
	case JSON: // dotted keys apart, a class is an object or a number that stands for one
		ok, want = f.JSONClass == "" || json.Valid([]byte(v)), "JSON"
	default:
		ok = true
	}
	if !ok {
		return fmt.Errorf("flag %s takes %s, not %q", f.Name, want, v)
	}
	return nil
}

// Int reads a whole number as the flag takes it: 32k is 32000 and 32K is 32768
// where the engine says so.
func (f *Flag) Int(v string) (int64, error) {
	if f.HumanInt && len(v) > 1 {
		scale := map[byte]float64{'k': 1e3, 'm': 1e6, 'g': 1e9, 'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}[v[len(v)-1]]
		if x, err := strconv.ParseFloat(v[:len(v)-1], 64); scale > 0 && err == nil && x*scale < 1<<53 {
			return int64(x * scale), nil
		}
	}
	return strconv.ParseInt(strings.TrimSpace(v), 10, 64)
}
