package benchfile

import (
	"encoding/json"
	"errors"
	"math"
	"strings"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/input"
)

// aiperfMetric is one of AIPerf's statistics with its unit.
type aiperfMetric struct {
	Unit string  `json:"unit"`
	Avg  *number `json:"avg"`
	P50  *number `json:"p50"`
	P90  *number `json:"p90"`
	P95  *number `json:"p95"`
	P99  *number `json:"p99"`
	Min  *number `json:"min"`
	Max  *number `json:"max"`
	Std  *number `json:"std"`
}

// aiperfFile is profile_export_aiperf.json (ai-dynamo/aiperf 0.1 to 0.3, whose metrics
// stand at the top, and GenAI-Perf's before it). Its inter-token latency is (request latency - TTFT)/(n - 1).
type aiperfFile struct {
	TTFT     *aiperfMetric `json:"time_to_first_token"`
	ITL      *aiperfMetric `json:"inter_token_latency"`
	ICL      *aiperfMetric `json:"inter_chunk_latency"`
	E2E      *aiperfMetric `json:"request_latency"`
	Requests *aiperfMetric `json:"request_throughput"`
	Output   *aiperfMetric `json:"output_token_throughput"`
	ISL      *aiperfMetric `json:"input_sequence_length"`
	OSL      *aiperfMetric `json:"output_sequence_length"`
	Count    *aiperfMetric `json:"request_count"`
	Bad      *aiperfMetric `json:"error_request_count"`
	Duration *aiperfMetric `json:"benchmark_duration"`
	Start    string        `json:"start_time"`
	Config   struct {
		Endpoint struct {
			Models []string `json:"model_names"`
			URL    string   `json:"url"`
			URLs   []string `json:"urls"`
			Type   string   `json:"type"`
		} `json:"endpoint"`
		Load struct {
			Concurrency *number `json:"concurrency"`
			Rate        *number `json:"request_rate"`
		} `json:"loadgen"`
	} `json:"input_config"`
}

func readAIPerf(raw []byte) (*Imported, error) {
	var f aiperfFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	if f.E2E == nil && f.TTFT == nil {
		return nil, errors.New("neither request_latency nor time_to_first_token is there")
	}
	rate := f.Config.Load.Rate.or(0)
	if f.Config.Load.Concurrency.or(0) > 0 && !(rate > 0) {
		rate = 0
	}
	s := newStage(count(f.Config.Load.Concurrency.or(0)), zero(rate))
	s.Requests.OK = count(f.Count.average())
	s.Requests.Failed = count(f.Bad.average())
	s.Requests.Sent = s.Requests.OK + s.Requests.Failed
	n := max(s.Requests.OK, 1)
	for _, x := range []struct {
		from *aiperfMetric
		into *bench.Dist
	}{{f.TTFT, &s.TTFT}, {f.ITL, &s.TPOT}, {f.ICL, &s.ICL}, {f.E2E, &s.E2E}} {
		d, err := x.from.dist(n, true)
		if err != nil {
			return nil, err
		}
		*x.into = d
	}
	s.Input, _ = f.ISL.dist(n, false)
	s.Output, _ = f.OSL.dist(n, false)
	s.RequestRate, s.OutputRate, s.To = figure(f.Requests.average()), figure(f.Output.average()), zero(f.Duration.average())
	i := &Imported{Report: newReport(strings.Join(f.Config.Endpoint.Models, ","), s)}
	i.Report.Started, i.Report.Endpoint, i.Report.URL = f.Start, f.Config.Endpoint.Type, f.Config.Endpoint.URL
	if len(f.Config.Endpoint.URLs) > 0 {
		i.Report.URL = f.Config.Endpoint.URLs[0]
	}
	i.Report.URL = input.WithoutSecrets(i.Report.URL)
	return i, nil
}

// average is unknown where the metric is not there.
func (m *aiperfMetric) average() float64 {
	if m == nil {
		return math.NaN()
	}
	return m.Avg.or(math.NaN())
}

// dist is the metric as a distribution of n, times in ms.
func (m *aiperfMetric) dist(n int, time bool) (bench.Dist, error) {
	if m == nil {
		return bench.Dist{}, nil
	}
	scale := 1.0
	if time {
		var err error
		if scale, err = perMillisecond(m.Unit); err != nil {
			return bench.Dist{}, err
		}
	}
	return stated(bench.Dist{N: n, Mean: m.Avg.times(scale), P50: m.P50.times(scale), P90: m.P90.times(scale), P95: m.P95.times(scale), P99: m.P99.times(scale),
		Min: m.Min.times(scale), Max: m.Max.times(scale), Std: m.Std.times(scale)}), nil
}

// perMillisecond is a time unit in ms.
func perMillisecond(name string) (float64, error) {
	name, _, _ = strings.Cut(strings.ToLower(name), "/") // per token
	switch name {
	case "ms", "milliseconds", "millisecond":
		return 1, nil
	case "s", "sec", "seconds", "second":
		return 1e3, nil
	case "us", "microseconds":
		return 1e-3, nil
	case "ns", "nanoseconds":
		return 1e-6, nil
	}
	return 0, errors.New("a time in the unit " + name + ": must be s, ms, us or ns")
}
