package tools

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/record"
)

// llamaStep is one round of engine/llamacpp's server, as GET /steps gives it.
type llamaStep struct {
	Generating int     `json:"generating"`
	Prompts    int     `json:"prompts"`
	Tokens     int64   `json:"prompt_tokens"`
	Context    float64 `json:"context"`
	Wall       float64 `json:"wall_ms"`
	CPU        float64 `json:"cpu_ms"`
	Host       float64 `json:"host_ms"`
}

// contextBucket is the width of contexts whose decode steps count as repeats.
const contextBucket = 256

// llamaSteps makes serving steps of rounds that only generate or only read prompts;
// those that do both tell neither. With one thread the CPU time is kept, which others
// on the machine do not stretch; with more the wall time.
func llamaSteps(t *text, rec *record.Record) error {
	var doc struct {
		Steps   []llamaStep `json:"llamacpp_steps"`
		Model   string      `json:"model"`
		Threads int         `json:"threads"`
	}
	if err := json.Unmarshal(t.all, &doc); err != nil {
		return err
	}
	type key struct {
		what   string
		batch  int
		tokens int64
		bucket int
	}
	var order []key
	of := map[key][]llamaStep{}
	for i, s := range doc.Steps {
		if s.Generating < 0 || s.Prompts < 0 || s.Tokens < 0 || !(s.Context >= 0) || s.Context > 1<<40 || !(s.Wall > 0) || !(s.CPU >= 0) || !(s.Host >= 0) || math.IsInf(s.Wall+s.CPU+s.Host, 0) {
			return fmt.Errorf("step %d: %+v is no measurement", i+1, s)
		}
		k := key{"decode", s.Generating, 0, int(s.Context) / contextBucket}
		switch {
		case (s.Generating > 0) == (s.Prompts > 0):
			continue
		case s.Prompts > 0:
			k = key{"prefill", s.Prompts, s.Tokens, 0}
		}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], s)
	}
	for _, k := range order {
		steps := of[k]
		if k.what == "decode" && len(steps) > 2*warmUp {
			steps = steps[1:] // the first step after a prompt fills caches
		}
		r := record.Result{Kind: record.Serving, What: k.what, Unit: "s", Model: doc.Model, Threads: doc.Threads, Batch: k.batch, Tokens: k.tokens, Device: "cpu", Kernel: "llama.cpp of node-llama-cpp"}
		var times, host []float64
		wall, busy, context := 0.0, 0.0, 0.0
		for _, s := range steps {
			took := s.Wall
			if doc.Threads == 1 && s.CPU > 0 {
				took = s.CPU
			}
			times, host = append(times, took*1e-3), append(host, s.Host*1e-3)
			wall, busy, context = wall+s.Wall, busy+s.CPU, context+s.Context
		}
		r.Summarize(host)
		r.HostSeconds = r.Value
		r.Summarize(times)
		// The CPU time of a step can be booked in part to the next one, so that the shortest
		// is too short: the lower quartile stands for the least disturbed.
		slices.Sort(times)
		r.Best = times[len(times)/4]
		r.Context = int64(context / float64(len(steps)))
		r.CPUShare = busy / wall
		rec.Results = append(rec.Results, r)
	}
	if doc.Threads != 1 {
		rec.Notes = append(rec.Notes, "wall times of "+strconv.Itoa(doc.Threads)+" threads")
	}
	return nil
}
