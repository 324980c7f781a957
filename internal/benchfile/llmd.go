package benchfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// llmdStatistic is one statistic of llm-d's benchmark report: AIPerf's under other keys.
type llmdStatistic struct {
	Unit string  `json:"units"`
	Avg  *number `json:"mean"`
	P50  *number `json:"p50"`
	P90  *number `json:"p90"`
	P95  *number `json:"p95"`
	P99  *number `json:"p99"`
	Min  *number `json:"min"`
	Max  *number `json:"max"`
	Std  *number `json:"stddev"`
}

// llmdVersion is the schema that is read.
const llmdVersion = "0.1"

// llmdTime is a time in seconds since 1970 or, as YAML has it, in RFC 3339; zero = not stated.
type llmdTime time.Time

// latestStart is after any run's start, in seconds since 1970: the year 2286.
const latestStart = 1e10

func (t *llmdTime) UnmarshalJSON(b []byte) error {
	var seconds float64
	var text string
	switch {
	case json.Unmarshal(b, &seconds) == nil && seconds > 0 && seconds < latestStart:
		*t = llmdTime(time.UnixMicro(int64(seconds * 1e6)))
	case json.Unmarshal(b, &text) == nil:
		*t = llmdTime(instant(text))
	}
	return nil // a time that is none is not known
}

// llmdFile is the benchmark report of llm-d-benchmark (schema 0.1; 0.2 has other keys and
// is refused by its number), as YAML, which llm-d writes, or JSON.
type llmdFile struct {
	Version  string `json:"version"`
	Scenario struct {
		Model struct {
			Name string `json:"name"`
		} `json:"model"`
		Load struct {
			Arguments struct {
				Concurrency *number `json:"max_concurrency"`
				Rate        *number `json:"request_rate"`
			} `json:"args"`
		} `json:"load"`
	} `json:"scenario"`
	Metrics *struct {
		Time struct {
			Start    llmdTime `json:"start"`
			Duration *number  `json:"duration"`
		} `json:"time"`
		Requests struct {
			Total    *number        `json:"total"`
			Failures *number        `json:"failures"`
			Input    *llmdStatistic `json:"input_length"`
			Output   *llmdStatistic `json:"output_length"`
		} `json:"requests"`
		Latency struct {
			TTFT *llmdStatistic `json:"time_to_first_token"`
			TPOT *llmdStatistic `json:"time_per_output_token"`
			ITL  *llmdStatistic `json:"inter_token_latency"`
			E2E  *llmdStatistic `json:"request_latency"`
		} `json:"latency"`
		Throughput struct {
			Input    *number `json:"input_tokens_per_sec"`
			Output   *number `json:"output_tokens_per_sec"`
			Requests *number `json:"requests_per_sec"`
		} `json:"throughput"`
	} `json:"metrics"`
}

func readLLMD(raw []byte) (*Imported, error) {
	var f llmdFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	if f.Version != "" && f.Version != llmdVersion {
		return nil, fmt.Errorf("version %q of the benchmark report: this reads %s", f.Version, llmdVersion)
	}
	if f.Metrics == nil || f.Metrics.Requests.Total == nil {
		return nil, errors.New("metrics.requests.total is missing")
	}
	m := f.Metrics
	rate := zero(f.Scenario.Load.Arguments.Rate.or(0))
	concurrency := count(f.Scenario.Load.Arguments.Concurrency.or(0))
	if concurrency > 0 {
		rate = 0
	}
	s := newStage(concurrency, rate)
	s.Requests.Sent, s.Requests.Failed = count(m.Requests.Total.v), count(m.Requests.Failures.or(0))
	s.Requests.OK = s.Requests.Sent - s.Requests.Failed
	for _, x := range []struct {
		from *llmdStatistic
		time bool
		into *bench.Dist
	}{{m.Latency.TTFT, true, &s.TTFT}, {m.Latency.TPOT, true, &s.TPOT}, {m.Latency.ITL, true, &s.ICL}, {m.Latency.E2E, true, &s.E2E},
		{m.Requests.Input, false, &s.Input}, {m.Requests.Output, false, &s.Output}} {
		d, err := x.from.dist(s.Requests.OK, x.time)
		if err != nil {
			return nil, err
		}
		*x.into = d
	}
	s.InputRate, s.OutputRate, s.RequestRate = figure(m.Throughput.Input.times(1)), figure(m.Throughput.Output.times(1)), figure(m.Throughput.Requests.times(1))
	s.To = zero(m.Time.Duration.or(0))
	i := &Imported{Report: newReport(f.Scenario.Model.Name, s)}
	i.Report.Seconds = s.To
	if t := time.Time(m.Time.Start); !t.IsZero() {
		i.Report.Started = t.UTC().Format(time.RFC3339)
	}
	return i, nil
}

// dist is a statistic as a distribution of n, times in ms.
func (t *llmdStatistic) dist(n int, time bool) (bench.Dist, error) {
	return (*aiperfMetric)(t).dist(n, time)
}
