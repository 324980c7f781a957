// Package compare holds one run against another: two measurements of a service,
// with intervals of confidence, and a prediction against a measurement, with the
// gap split as far as the measurement knows its parts. It measures and predicts
// nothing itself.
//
// Where both sides kept the values of every request, the interval of a statistic's
// change is a percentile bootstrap (Efron 1979) over requests, that of a mean widened for few of them
// (Hesterberg 2015); where only mean,
// deviation and count are known it is Welch's for the difference of two means, and
// percentiles have none. Both take requests of a run as independent and say nothing
// of what differs from one run to the next: repeat runs to see that.
package compare

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// Side is one measurement.
type Side struct {
	Report *bench.Report
	// Values are a metric's of the requests of a stage, in ms; nil where they were not
	// kept.
	Values func(stage int, metric string) []float32
}

// Row is one statistic on both sides.
type Row struct {
	Metric    string   `json:"metric"`
	Statistic string   `json:"statistic"`
	Unit      string   `json:"unit"`
	A         *float64 `json:"a"` // null where it is not known
	B         *float64 `json:"b"`
	Change    *float64 `json:"change"`      // B/A - 1
	Low       *float64 `json:"change_low"`  // of the 95 % interval, null without one
	High      *float64 `json:"change_high"` //
	Method    string   `json:"method"`      // of the interval: bootstrap, welch or none
	Differs   *bool    `json:"differs"`     // the interval does not hold 0; null without one
	Few       bool     `json:"too_few"`     // an interval would take more requests
}

// Pair is a load that both sides were put under.
type Pair struct {
	Load string `json:"load"`
	Rows []Row  `json:"rows"`
}

// Comparison is of two measurements.
type Comparison struct {
	Pairs    []Pair   `json:"pairs"`
	Unpaired []string `json:"unpaired"` // loads of one side alone
	Notes    []string `json:"notes"`
}

// Metrics are the latencies that are compared, by name.
var Metrics = []string{"ttft", "tpot", "e2e"}

// dist is a latency of a stage in ms, measured from the request sent: the basis
// that loads of all modes have.
func dist(s *bench.Stage, metric string) bench.Dist {
	switch metric {
	case "tpot":
		return s.TPOT
	case "ttft":
		if s.Basis == bench.Response {
			return s.Other.TTFT
		}
		return s.TTFT
	}
	if s.Basis == bench.Response {
		return s.Other.E2E
	}
	return s.E2E
}

// Value is that metric of one request, as the values that are kept.
func Value(r *bench.Record, metric string) (ms float32, ok bool) {
	if r.Outcome != bench.OK || r.Warmup {
		return 0, false
	}
	d, ok := r.TPOT()
	switch metric {
	case "ttft":
		d, ok = r.TTFT(bench.Service)
	case "e2e":
		d, ok = r.E2E(bench.Service)
	}
	return float32(d.Seconds() * 1e3), ok
}

// load names a stage's load; equal names are equal loads.
func load(s *bench.Stage) string {
	text := fmt.Sprintf("%d in flight", s.Concurrency)
	switch s.Mode {
	case bench.Open:
		text = fmt.Sprintf("%.6g requests/s %s", s.Rate, s.Arrival)
	case bench.Unstated:
		text = "load not stated"
	case bench.Traced:
		text = "trace"
	}
	if s.NetDelay != "" {
		text += ", +" + s.NetDelay
	}
	return text
}
