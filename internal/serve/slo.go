package serve

import (
	"fmt"
	"strings"
	"time"

	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// SLO is what an answer must keep to count as good; 0 asks nothing.
type SLO struct{ TTFT, TPOT time.Duration }

// Asked tells whether anything is asked.
func (s SLO) Asked() bool { return s.TTFT > 0 || s.TPOT > 0 }

// Good tells whether a request was answered within the SLO. One token has no
// TPOT to miss.
func (s SLO) Good(r *workload.Record) bool {
	ttft, ok := r.TTFT()
	if r.Outcome != workload.Done || !ok || s.TTFT > 0 && ttft > s.TTFT {
		return false
	}
	tpot, ok := r.TPOT()
	return s.TPOT == 0 || !ok || tpot <= s.TPOT
}

// Statistic is the figure of a distribution that an SLO is held against.
type Statistic uint8

// The statistics.
const (
	Mean Statistic = iota
	P50
	P90
	P95
	P99
)

var statisticNames = [...]string{"mean", "p50", "p90", "p95", "p99"}

// String is the statistic's name on the command line.
func (s Statistic) String() string { return statisticNames[s] }

// ParseStatistic is the inverse of String.
func ParseStatistic(text string) (Statistic, error) {
	for i, n := range statisticNames {
		if strings.EqualFold(n, strings.TrimSpace(text)) {
			return Statistic(i), nil
		}
	}
	return 0, fmt.Errorf("statistic %q: use one of %s", text, strings.Join(statisticNames[:], ", "))
}

// Of is the statistic of d.
func (s Statistic) Of(d *Dist) float64 { return [...]float64{d.Mean, d.P50, d.P90, d.P95, d.P99}[s] }

// Missed words how the run misses the SLO at the statistic; "" where it keeps it.
// Under overload every time to first token is missed in the end.
func (r *Result) Missed(slo SLO, at Statistic) string {
	m := r.Mean()
	switch {
	case !slo.Asked():
		return ""
	case m.E2E.N == 0:
		return "no request was answered"
	case r.Overload != "" && (slo.TTFT > 0 || at != Mean):
		return r.Overload
	}
	for _, x := range []struct {
		name string
		d    *Dist
		most time.Duration
	}{{"ttft", &m.TTFT, slo.TTFT}, {"tpot", &m.TPOT, slo.TPOT}} {
		if got := at.Of(x.d); x.most > 0 && x.d.N > 0 && got > x.most.Seconds() {
			return fmt.Sprintf("%s %s is %s, above %s", at, x.name, unit.FormatSeconds(unit.Seconds(got)), unit.FormatSeconds(unit.Seconds(x.most.Seconds())))
		}
	}
	return ""
}
