package benchfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// vllmFile is what `vllm bench serve --save-result` writes (vllm/benchmarks/serve.py of
// vLLM 0.10 to 0.11, and benchmark_serving.py before it); lists per request come with --save-detailed. Times are ms, in lists s.
type vllmFile struct {
	Date        string  `json:"date"`
	Backend     string  `json:"backend"`
	Endpoint    string  `json:"endpoint_type"`
	Model       string  `json:"model_id"`
	Rate        number  `json:"request_rate"` // "inf": all at once, or as max_concurrency lets them
	Concurrency *number `json:"max_concurrency"`
	Duration    *number `json:"duration"`
	Completed   *number `json:"completed"`
	Failed      *number `json:"failed"`
	Prompts     *number `json:"num_prompts"`
	InputTotal  *number `json:"total_input_tokens"`
	OutputTotal *number `json:"total_output_tokens"`
	Requests    *number `json:"request_throughput"`
	Output      *number `json:"output_throughput"`

	InputLens  []float64   `json:"input_lens"`
	OutputLens []float64   `json:"output_lens"`
	TTFTs      []float64   `json:"ttfts"`
	ITLs       [][]float64 `json:"itls"`
	Errors     []string    `json:"errors"`
}

// rateTolerance is how far a rate may lie from the count and time that it is made of: rounding.
const rateTolerance = 0.02

func readVLLM(raw []byte) (*Imported, error) {
	var f vllmFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	err := json.Unmarshal(raw, &all)
	if err != nil {
		return nil, err
	}
	if f.Completed == nil || f.Output == nil {
		return nil, errors.New("completed or output_throughput is missing")
	}
	rate := f.Rate.v
	if !(rate > 0) {
		rate = 0
	}
	concurrency := count(f.Concurrency.or(0))
	if concurrency > 0 {
		rate = 0 // the cap is what the load was
	} else if rate == 0 {
		concurrency = count(f.Prompts.or(0)) // all at once
	}
	s := newStage(concurrency, rate)
	s.Requests.OK = count(f.Completed.v)
	s.Requests.Failed = count(f.Failed.or(f.Prompts.or(f.Completed.v) - f.Completed.v))
	s.Requests.Sent = s.Requests.OK + s.Requests.Failed
	s.RequestRate, s.OutputRate, s.To = figure(f.Requests.times(1)), figure(f.Output.v), zero(f.Duration.or(0))
	if made := f.OutputTotal.times(1 / f.Duration.or(math.NaN())); math.Abs(f.Output.v-made) > rateTolerance*made {
		return nil, fmt.Errorf("output_throughput %g is not total_output_tokens over duration, %.4g: give the file as vLLM wrote it", f.Output.v, made)
	}
	s.InputRate = figure(f.InputTotal.times(1) / f.Duration.times(1))
	n := s.Requests.OK
	for metric, into := range map[string]*bench.Dist{"ttft": &s.TTFT, "tpot": &s.TPOT, "itl": &s.ICL, "e2el": &s.E2E} {
		if *into, err = vllmDist(all, metric, n, 1); err != nil {
			return nil, err
		}
	}
	if n > 0 {
		s.Input, s.Output = mean(f.InputTotal.times(1/float64(n)), n), mean(f.OutputTotal.times(1/float64(n)), n)
		s.Counted = 1
	}
	i := &Imported{Report: newReport(f.Model, s)}
	i.Report.Started, i.Report.Seconds = f.Date, s.To
	i.Report.Endpoint = f.Endpoint
	return i, f.requests(i)
}

// requests takes over the lists of requests: distributions are then exact.
func (f *vllmFile) requests(i *Imported) error {
	n := len(f.TTFTs)
	if n == 0 {
		return nil
	}
	if len(f.ITLs) != n || len(f.OutputLens) != n {
		return errors.New("ttfts, itls and output_lens are of different lengths")
	}
	values := map[string][]float32{}
	var plain [3][]float64
	var gaps []float64
	for k, first := range f.TTFTs {
		if len(f.Errors) == n && f.Errors[k] != "" || !(first > 0) || f.OutputLens[k] < 1 {
			continue
		}
		whole := first
		for _, d := range f.ITLs[k] {
			if !(d >= 0) {
				return errors.New("an itl below 0")
			}
			whole += d
			gaps = append(gaps, d*1e3)
		}
		plain[0], plain[2] = append(plain[0], first*1e3), append(plain[2], whole*1e3)
		if f.OutputLens[k] > 1 {
			plain[1] = append(plain[1], (whole-first)*1e3/(f.OutputLens[k]-1))
		}
	}
	s := &i.Report.Stages[0]
	for k, metric := range []string{"ttft", "tpot", "e2e"} {
		for _, v := range plain[k] {
			values[metric] = append(values[metric], float32(v))
		}
		if d := bench.NewDist(plain[k]); d.N > 0 {
			*[]*bench.Dist{&s.TTFT, &s.TPOT, &s.E2E}[k] = d
		}
	}
	if d := bench.NewDist(gaps); d.N > 0 {
		s.ICL = d
	}
	i.Values = []map[string][]float32{values}
	return nil
}

// vllmDist reads mean_X_ms, median_X_ms, std_X_ms and percentiles pNN_X_ms.
func vllmDist(all map[string]json.RawMessage, metric string, n int, scale float64) (bench.Dist, error) {
	k := keyed{all: all}
	get := func(name string) float64 { return k.number(name+"_"+metric+"_ms") * scale }
	d := bench.Dist{N: n, Mean: get("mean"), P50: get("median"), P90: get("p90"), P95: get("p95"), P99: get("p99"), Min: math.NaN(), Max: math.NaN(), Std: get("std")}
	if math.IsNaN(d.P50) {
		d.P50 = get("p50")
	}
	return stated(d), k.err
}

// keyed reads numbers by keys that are made up of words; err is of the first that is
// there and is none.
type keyed struct {
	all map[string]json.RawMessage
	err error
}

// number is unknown where the key is not there.
func (k *keyed) number(key string) float64 {
	raw, ok := k.all[key]
	if !ok {
		return math.NaN()
	}
	var v number
	if err := json.Unmarshal(raw, &v); err != nil {
		if k.err == nil {
			k.err = fmt.Errorf("%s is %.20s: give a number", key, raw)
		}
		return math.NaN()
	}
	return v.v
}

// stated is nothing where neither mean nor median is.
func stated(d bench.Dist) bench.Dist {
	if d.N == 0 || math.IsNaN(d.Mean) && math.IsNaN(d.P50) {
		return bench.Dist{}
	}
	return d
}

// mean is a distribution of which only that is known.
func mean(v float64, n int) bench.Dist {
	x := math.NaN()
	return stated(bench.Dist{N: n, Mean: v, P50: x, P90: x, P95: x, P99: x, Min: x, Max: x, Std: x})
}

// figure is unknown for what is no number.
func figure(v float64) bench.Figure {
	if math.IsInf(v, 0) {
		return bench.Unknown()
	}
	return bench.Figure(v)
}

// zero is 0 for what is not known: of times, which reports then leave out.
func zero(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
