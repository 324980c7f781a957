package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/ridgeline/ridgeline/internal/input"
)

// maxBench bounds a document of `ridgeline bench`: a sweep takes some 100 kB.
const maxBench = 64 << 20

// leastAnswered is the share of a stage's requests that must have been answered: those that failed
// left their places to others, so that fewer were in flight than the stage says.
const leastAnswered = 0.98

// ReadBench makes serving runs of the JSON of `ridgeline bench`: a row for each closed loop,
// with the means of lengths and times over its stretch and everything else as in job. What is
// no closed loop, or what the client itself held up, is in skipped.
func ReadBench(r io.Reader, name string, job *ServingRun) (runs []ServingRun, skipped []Skipped, err error) {
	text, err := input.Text(r, maxBench)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	type dist struct {
		N    int     `json:"n"`
		Mean float64 `json:"mean"`
	}
	var doc struct {
		Stages []struct {
			Mode        string `json:"mode"`
			Concurrency int    `json:"concurrency"`
			Partial     bool   `json:"partial"`
			Requests    struct {
				Sent int `json:"sent"`
				OK   int `json:"ok"`
			} `json:"requests"`
			TTFT   dist `json:"ttft_ms"`
			TPOT   dist `json:"tpot_ms"`
			Input  dist `json:"input_tokens"`
			Output dist `json:"output_tokens"`
			Client *struct {
				Valid bool `json:"valid"`
			} `json:"client"`
		} `json:"stages"`
	}
	switch err := json.NewDecoder(text).Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil, fmt.Errorf("%s: the file is empty: give the document of `ridgeline bench --json`", name)
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w: give the document of `ridgeline bench --json`", name, err)
	}
	if len(doc.Stages) == 0 {
		return nil, nil, fmt.Errorf("%s: no stage in it: give the document of `ridgeline bench --json`", name)
	}
	for i := range doc.Stages {
		s := &doc.Stages[i]
		id := fmt.Sprintf("%s#%d", name, i+1)
		isl, osl := math.Round(s.Input.Mean), math.Round(s.Output.Mean)
		why := ""
		switch {
		case s.Mode != "closed":
			why = fmt.Sprintf("load is %q: a fit takes closed loops", s.Mode)
		case s.Partial:
			why = "interrupted"
		case s.Client != nil && !s.Client.Valid:
			why = "the client was the bottleneck"
		case float64(s.Requests.OK) < leastAnswered*float64(s.Requests.Sent):
			why = fmt.Sprintf("%d of %d requests were answered: the others' share of the load is not known", s.Requests.OK, s.Requests.Sent)
		case s.TPOT.N == 0:
			why = "no time per token in it"
		case s.Concurrency < 1 || !(isl >= 1 && isl <= maxCell && osl >= 1 && osl <= maxCell):
			why = fmt.Sprintf("concurrency %d, %g tokens in, %g out: no closed loop", s.Concurrency, s.Input.Mean, s.Output.Mean)
		case !(s.TPOT.Mean >= leastMeasured && s.TPOT.Mean <= mostMeasured && s.TTFT.Mean >= 0 && s.TTFT.Mean <= mostMeasured):
			why = fmt.Sprintf("tpot %g ms, ttft %g ms: no times", s.TPOT.Mean, s.TTFT.Mean)
		}
		if why != "" {
			skipped = append(skipped, Skipped{id, why})
			continue
		}
		run := *job
		run.ID, run.Concurrency, run.ISL, run.OSL = id, s.Concurrency, int(isl), int(osl)
		run.TPOT, run.TTFT = s.TPOT.Mean, s.TTFT.Mean
		runs = append(runs, run)
	}
	return runs, skipped, nil
}
