package bench

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// flaky refuses every third request.
func flaky(a *asked, s *stream) {
	if a.N%3 == 2 {
		s.w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	steady(20*ms, 4, 10*ms)(a, s)
}

// A request that fails takes for ever: an objective is missed at every statistic that it reaches.
func TestFailuresMissTheObjective(t *testing.T) {
	for at, meets := range map[string]bool{"min": true, "p50": true, "p90": false, "p99": false, "mean": false, "max": false} {
		w := evaluate(t, flaky, func(c *Config) { c.Requests, c.SLO = 9, &SLO{TTFT: 1, At: at} })
		s := &w.Stages[0]
		if s.Requests.Failed != 3 || *s.Meets != meets || meets == strings.Contains(s.Missed, "3 of 9 requests failed or were truncated") {
			t.Errorf("%s: %+v, meets %v: %q", at, s.Requests, *s.Meets, s.Missed)
		}
	}
	// 12, 14, .. 26 ms of eight, a ninth that failed: the median is the fifth of nine, not between two of eight.
	script := func(a *asked, s *stream) {
		if a.N == 8 {
			s.w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		steady(time.Duration(12+2*a.N)*ms, 1, 0)(a, s)
	}
	w := evaluate(t, script, func(c *Config) { c.Requests, c.SLO = 9, &SLO{TTFT: 0.0195, At: "p50"} })
	if s := &w.Stages[0]; s.TTFT.P50 > 19.1 || *s.Meets || !strings.HasPrefix(s.Missed, "p50 ttft is 20 ms, over 19.5 ms with the 1 requests") {
		t.Errorf("median of successes %g, %q", s.TTFT.P50, s.Missed)
	}
}
