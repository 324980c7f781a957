package benchfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// inferenceXRow is one configuration as utils/process_result.py of InferenceX (until 2026
// InferenceMAX) writes it, and a list of them as its collect_results.py does: times in
// seconds, rates per GPU.
type inferenceXRow struct {
	Hardware  string  `json:"hw"`
	Model     string  `json:"model"`
	Framework string  `json:"framework"`
	Precision string  `json:"precision"`
	TP        *number `json:"tp"`
	Conc      *number `json:"conc"`
	ISL       *number `json:"isl"`
	OSL       *number `json:"osl"`
	Prefill   *number `json:"num_prefill_gpu"`
	Decode    *number `json:"num_decode_gpu"`
	PerGPU    *number `json:"tput_per_gpu"`
	Output    *number `json:"output_tput_per_gpu"`
	Input     *number `json:"input_tput_per_gpu"`
}

func readInferenceX(raw []byte) (*Imported, error) {
	var rows []json.RawMessage
	if json.Unmarshal(raw, &rows) != nil {
		rows = []json.RawMessage{raw}
	}
	if len(rows) == 0 || len(rows) > 10_000 {
		return nil, fmt.Errorf("%d rows: give 1 to 10000", len(rows))
	}
	var all *Imported
	var of inferenceXRow
	for k, raw := range rows {
		var r inferenceXRow
		var keys map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(raw, &r), json.Unmarshal(raw, &keys)); err != nil {
			return nil, err
		}
		if r.Conc == nil || !(r.Conc.v >= 1) || r.PerGPU == nil {
			return nil, fmt.Errorf("row %d: conc or tput_per_gpu is missing", k+1)
		}
		s, err := r.stage(keys)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", k+1, err)
		}
		if all == nil {
			of, all = r, &Imported{Report: newReport(r.Model, s)}
			all.Report.Labels = map[string]string{"hw": r.Hardware, "framework": r.Framework, "precision": r.Precision}
			continue
		}
		if r.Model != of.Model || r.Hardware != of.Hardware || r.Framework != of.Framework || r.Precision != of.Precision {
			return nil, fmt.Errorf("row %d is of %s on %s, row 1 of %s on %s: give one system per file", k+1, r.Model, r.Hardware, of.Model, of.Hardware)
		}
		all.Report.Stages = append(all.Report.Stages, s)
	}
	return all, nil
}

// stage is one row. The number of requests is the protocol's: ten per user.
func (r *inferenceXRow) stage(keys map[string]json.RawMessage) (bench.Stage, error) {
	s := newStage(count(r.Conc.v), 0)
	s.Requests.OK = 10 * s.Concurrency
	s.Requests.Sent = s.Requests.OK
	s.OutputRate, s.InputRate = r.rates()
	of := keyed{all: keys}
	for metric, into := range map[string]*bench.Dist{"ttft": &s.TTFT, "tpot": &s.TPOT, "itl": &s.ICL, "e2el": &s.E2E} {
		get := func(name string) float64 { return of.number(name+"_"+metric) * 1e3 }
		*into = stated(bench.Dist{N: s.Requests.OK, Mean: get("mean"), P50: get("median"), P90: get("p90"), P95: get("p95"), P99: get("p99"),
			Min: math.NaN(), Max: math.NaN(), Std: get("std")})
	}
	s.Input, s.Output = mean(r.ISL.or(math.NaN()), s.Requests.OK), mean(r.OSL.or(math.NaN()), s.Requests.OK)
	return s, of.err
}

// agree is how far the sum of two rates may be from what the row states as their total,
// by rounding.
const agree = 0.02

// rates are those of output and input of the whole deployment. Rows of two roles may
// divide each by its role's GPUs or by all: the total, by all, tells; where neither adds up
// the rates are not known.
func (r *inferenceXRow) rates() (output, input bench.Figure) {
	prefill, decode := r.Prefill.or(0), r.Decode.or(0)
	if !(prefill > 0 && decode > 0) {
		gpus := max(prefill, decode)
		if gpus == 0 {
			gpus = r.TP.or(math.NaN())
		}
		return figure(r.Output.times(gpus)), figure(r.Input.times(gpus))
	}
	all := prefill + decode
	for _, over := range [][2]float64{{all, all}, {decode, prefill}} {
		o, i := r.Output.times(over[0]), r.Input.times(over[1])
		if math.Abs(o+i-r.PerGPU.times(all)) <= agree*r.PerGPU.times(all) {
			return figure(o), figure(i)
		}
	}
	return bench.Unknown(), bench.Unknown()
}
