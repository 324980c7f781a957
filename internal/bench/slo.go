package bench

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// SLO is what each request is promised, in seconds; 0 = nothing. At names the
// statistic that must keep it for a stage to meet the SLO.
type SLO struct {
	TTFT float64 `json:"ttft_seconds"`
	TPOT float64 `json:"tpot_seconds"`
	ITL  float64 `json:"itl_seconds"` // of the longest gap between chunks
	E2E  float64 `json:"e2e_seconds"`
	At   string  `json:"at"`
}

// objective is one promise.
type objective struct {
	name  string
	limit float64 // seconds
	of    func(*Record, Basis) (time.Duration, bool)
	stage func(*Summary) Dist // milliseconds, of successes
}

// objectives are the promises that were made.
func (s *SLO) objectives() (list []objective) {
	for _, o := range []objective{
		{"ttft", s.TTFT, (*Record).TTFT, func(m *Summary) Dist { return m.TTFT }},
		{"tpot", s.TPOT, func(r *Record, _ Basis) (time.Duration, bool) { return r.TPOT() }, func(m *Summary) Dist { return m.TPOT }},
		{"itl", s.ITL, func(r *Record, _ Basis) (time.Duration, bool) { return r.MaxGap() }, func(m *Summary) Dist { return m.MaxGap }},
		{"e2e", s.E2E, (*Record).E2E, func(m *Summary) Dist { return m.E2E }},
	} {
		if o.limit > 0 {
			list = append(list, o)
		}
	}
	return list
}

// met tells whether one request keeps every promise. A request that did not
// succeed keeps none; an objective that has no value in it, such as the TPOT of a
// single token, is not broken by it.
func (s *SLO) met(r *Record, b Basis) bool {
	if r.Outcome != OK {
		return false
	}
	for _, o := range s.objectives() {
		if d, ok := o.of(r, b); ok && d.Seconds() > o.limit {
			return false
		}
	}
	return true
}

// Misses names the first objective that a stage misses at the statistic over the
// records it measured, in words; "" where it meets all. A request that failed or was
// truncated took for ever: it misses every mean and longest time, and a percentile
// where so many did. An objective that was not measured is missed: nothing proves
// that it was kept.
func (s *SLO) Misses(m *Summary, measured []*Record) string {
	bad := m.Requests.Failed + m.Requests.Truncated
	for _, o := range s.objectives() {
		v, ok := o.stage(m).At(s.At)
		if ok && bad > 0 {
			v = o.withFailures(s.At, m.Basis, measured)
		}
		switch {
		case !ok:
			return fmt.Sprintf("%s was not measured", o.name)
		case math.IsInf(v, 1):
			return fmt.Sprintf("%s %s has no end: %d of %d requests failed or were truncated", s.At, o.name, bad, m.Requests.Sent-m.Requests.Cancelled)
		case v > o.limit*1e3:
			text := fmt.Sprintf("%s %s is %.4g ms, over %.4g ms", s.At, o.name, v, o.limit*1e3)
			if bad > 0 {
				text += fmt.Sprintf(" with the %d requests that failed or were truncated", bad)
			}
			return text
		}
	}
	return ""
}

// withFailures is the statistic in ms of all requests, some of which failed: these took
// for ever.
func (o *objective) withFailures(at string, b Basis, measured []*Record) float64 {
	var all []float64
	for _, r := range measured {
		switch r.Outcome {
		case Cancelled:
		case OK:
			if d, ok := o.of(r, b); ok {
				all = append(all, milliseconds(d))
			}
		default:
			all = append(all, math.Inf(1))
		}
	}
	slices.Sort(all)
	q, percentile := map[string]float64{"min": 0, "p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}[at]
	if !percentile {
		return math.Inf(1)
	}
	if i := int(math.Ceil(q * float64(len(all)-1))); math.IsInf(all[i], 1) {
		return all[i] // between a time and one without end lies none
	}
	return Quantile(all, q)
}

// ParseSLO reads ttft=2s,tpot=50ms,itl=200ms,e2e=30s, any of them.
func ParseSLO(text string) (SLO, error) {
	t, err := unit.ParseLimits(text, "ttft=2s,tpot=50ms,itl=200ms,e2e=30s", "ttft", "tpot", "itl", "e2e")
	return SLO{At: "mean", TTFT: float64(t["ttft"]), TPOT: float64(t["tpot"]), ITL: float64(t["itl"]), E2E: float64(t["e2e"])}, err
}
