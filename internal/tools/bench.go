package tools

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/record"
)

// benchRun reads the JSON of `ridgeline bench`: of each closed loop the time per output
// token as a decode step of that many sequences, and of one request at a time the time
// to the first token as the reading of its prompt. Network and host are in both, and
// prompts that are read meanwhile lengthen the steps of more than one sequence.
func benchRun(t *text, rec *record.Record) error {
	type dist struct {
		N    int
		Mean float64
		P50  float64
	}
	var doc struct {
		Model  string `json:"model"`
		Stages []struct {
			Mode        string `json:"mode"`
			Concurrency int    `json:"concurrency"`
			TTFT        dist   `json:"ttft_ms"`
			TPOT        dist   `json:"tpot_ms"`
			Input       dist   `json:"input_tokens"`
			Output      dist   `json:"output_tokens"`
		} `json:"stages"`
	}
	if err := json.Unmarshal(t.all, &doc); err != nil {
		return err
	}
	for i, s := range doc.Stages {
		if s.Mode != "closed" || s.TPOT.N == 0 {
			continue
		}
		r := record.Result{Kind: record.Serving, What: "decode", Unit: "s", Model: doc.Model, Batch: s.Concurrency, Repeats: s.TPOT.N, Value: s.TPOT.P50 * 1e-3, Device: "service"}
		in, out := s.Input.Mean, s.Output.Mean
		if !(in > 0 && in < 1<<40 && out >= 0 && out < 1<<40) || math.IsNaN(r.Value) || s.Concurrency < 1 {
			return fmt.Errorf("stage %d: concurrency %d, %g tokens in, %g out: no stage of a run", i+1, s.Concurrency, in, out)
		}
		r.Context = int64(in + out/2)
		rec.Results = append(rec.Results, r)
		if s.Concurrency == 1 && s.TTFT.P50 > 0 {
			r.What, r.Tokens, r.Context, r.Value = "prefill", int64(in), 0, s.TTFT.P50*1e-3
			rec.Results = append(rec.Results, r)
		}
	}
	return nil
}
