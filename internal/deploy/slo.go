package deploy

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// SLO is what users are promised, as means over requests; zero = not limited.
type SLO struct {
	TTFT unit.Seconds // time to first token, queueing included
	TPOT unit.Seconds // time per output token after the first
}

// Any tells whether anything is promised.
func (s SLO) Any() bool { return s.TTFT > 0 || s.TPOT > 0 }

// String is the SLO as ParseSLO reads it.
func (s SLO) String() string {
	var parts []string
	for _, x := range []struct {
		name string
		t    unit.Seconds
	}{{"ttft", s.TTFT}, {"tpot", s.TPOT}} {
		if x.t > 0 {
			parts = append(parts, x.name+"="+strings.ReplaceAll(unit.FormatSeconds(x.t), " ", ""))
		}
	}
	return strings.Join(parts, ",")
}

// ParseSLO reads `ttft=2s,tpot=50ms`, either or both.
func ParseSLO(text string) (SLO, error) {
	var s SLO
	for _, item := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(item), "=")
		into := map[string]*unit.Seconds{"ttft": &s.TTFT, "tpot": &s.TPOT}[strings.ToLower(strings.TrimSpace(key))]
		switch {
		case !ok || into == nil:
			return SLO{}, fmt.Errorf("%q is no objective: give ttft=2s,tpot=50ms or one of the two", item)
		case *into > 0:
			return SLO{}, fmt.Errorf("%s is given twice in %q: keep one", key, text)
		}
		t, err := unit.ParseSeconds(strings.TrimSpace(value))
		if err != nil {
			return SLO{}, fmt.Errorf("%s: %w", key, err)
		}
		if t <= 0 {
			return SLO{}, fmt.Errorf("%s=%s can never be met: give a time above 0", key, value)
		}
		*into = t
	}
	return s, nil
}

// Misses is by how much p misses s: the largest ratio of a time over its limit,
// at most 1 where s is met.
func (s SLO) Misses(p *Point) float64 {
	worst := 0.0
	if s.TTFT > 0 {
		worst = max(worst, float64(p.TTFT/s.TTFT))
	}
	if s.TPOT > 0 {
		worst = max(worst, float64(p.TPOT/s.TPOT))
	}
	return worst
}

// Meets tells whether p fits and keeps every promise.
func (s SLO) Meets(p *Point) bool { return p.Fits && s.Misses(p) <= 1 }
