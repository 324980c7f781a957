package deploy

import (
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
	t, err := unit.ParseLimits(text, "ttft=2s,tpot=50ms", "ttft", "tpot")
	return SLO{TTFT: t["ttft"], TPOT: t["tpot"]}, err
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
