package unit

import (
	"fmt"
	"slices"
	"strings"
)

// ParseLimits reads times above 0 by name, such as `ttft=2s,tpot=50ms`, of the names
// that are known; form is how one is written, for errors, which are one line.
func ParseLimits(text, form string, names ...string) (map[string]Seconds, error) {
	limits := map[string]Seconds{}
	for _, item := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(item), "=")
		name := strings.ToLower(strings.TrimSpace(key))
		switch {
		case !ok || !slices.Contains(names, name):
			return nil, fmt.Errorf("%q is no objective: give %s or some of them", item, form)
		case limits[name] > 0:
			return nil, fmt.Errorf("%s is given twice in %q: keep one", key, text)
		}
		t, err := ParseSeconds(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		if t <= 0 {
			return nil, fmt.Errorf("%s=%s can never be met: give a time above 0", key, value)
		}
		limits[name] = t
	}
	return limits, nil
}
