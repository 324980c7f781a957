package tools

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/record"
)

// warmUp is the first logged steps that are left out: they hold compilation, autotuning
// and the filling of caches.
const warmUp = 3

// Bounds of what a log can state: beyond them a figure is damaged. A day is longer than
// any step, the rates are a thousand times those of a GPU of today.
const (
	longestStep = 86400 // s
	mostFLOPs   = 1e7   // TFLOP/s of a GPU
	mostTokens  = 1e9   // per second and GPU
	mostCount   = 1e9   // sequences of a batch, tokens of a sequence
)

// addTraining adds a quantity of a training run, per second and GPU, without its warm-up;
// a log that holds nothing else is an error.
func addTraining(rec *record.Record, what, unit string, v []float64) error {
	switch {
	case len(v) == 0:
		return nil
	case len(v) <= warmUp:
		return fmt.Errorf("logged steps: %d, and the first %d are warm-up: give a log of %d or more", len(v), warmUp, warmUp+1)
	}
	r := record.Result{Kind: record.Training, What: what, Unit: unit}
	r.Summarize(v[warmUp:])
	rec.Results = append(rec.Results, r)
	return nil
}

var (
	megatronStep  = regexp.MustCompile(`elapsed time per iteration \(ms\): ([^\s|]+)`)
	megatronFLOPs = regexp.MustCompile(`throughput per GPU \(TFLOP/s/GPU\): ([^\s|]+)`)
	megatronBatch = regexp.MustCompile(`global batch size:\s+(\d+)`)
	megatronArg   = regexp.MustCompile(`^\s*(?:\[?\S*\]?:? )?\s*(seq_length|world_size|data_parallel_size) \.+ (\d+)\s*$`)
	titanStep     = regexp.MustCompile(`step:\s*\d+.*?tps:\s*([^\s|]+)`)
	titanFLOPs    = regexp.MustCompile(`tflops:\s*([^\s|]+)`)
	nemoStep      = regexp.MustCompile(`train_step_timing in s(?::|=)\s*([^\s|,\]]+)`)
	nemoBatch     = regexp.MustCompile(`global_batch_size:\s*([0-9.]+)`)
	nemoSeq       = regexp.MustCompile(`seq_length['":=\s]+(\d+)`)
	escapes       = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// numbers are the first group of every match in the log, colours left out; one that is no
// number above 0 and up to most is an error that names its line.
func numbers(t *text, re *regexp.Regexp, most float64) ([]float64, error) {
	var out []float64
	for i, line := range t.lines {
		m := re.FindStringSubmatch(escapes.ReplaceAllString(line, ""))
		if m == nil {
			continue
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		if err != nil || !(v > 0) || v > most {
			return nil, fmt.Errorf("line %d: %q is no measurement: a number above 0 and up to %.10g stands there in a whole log; take the line out", i+1, m[1], most)
		}
		out = append(out, v)
	}
	return out, nil
}

// megatron reads a Megatron-LM log: the time of a step with its global batch, and tokens per
// second and GPU where the log holds the list of arguments too.
func megatron(t *text, rec *record.Record) error {
	steps, err := numbers(t, megatronStep, 1e3*longestStep)
	if err != nil {
		return err
	}
	for i := range steps {
		steps[i] *= 1e-3
	}
	flops, err := numbers(t, megatronFLOPs, mostFLOPs)
	if err != nil {
		return err
	}
	for i := range flops {
		flops[i] *= 1e12
	}
	batches, err := numbers(t, megatronBatch, mostCount)
	if err != nil {
		return err
	}
	batch, n := 0.0, len(steps)
	switch {
	case len(batches) == n && n > 0:
		batch = batches[n-1]
		full := func(v []float64) []float64 { return ofBatch(v, batches, batch) }
		if steps = full(steps); len(flops) == n {
			flops = full(flops)
		}
		if len(steps) < n {
			rec.Notes = append(rec.Notes, fmt.Sprintf("the global batch changes: only the %d steps of the last one, %g, are read", len(steps), batch))
		}
	case len(batches) > 0 && slices.Min(batches) == slices.Max(batches): // a line is cut
		batch = batches[0]
	}
	if err := addTraining(rec, "step", "s", steps); err != nil {
		return err
	}
	if len(steps) > 0 {
		rec.Results[len(rec.Results)-1].Batch = int(batch)
	}
	if err := addTraining(rec, "flops", "FLOP/s", flops); err != nil {
		return err
	}
	return megatronTokens(t, rec, steps, batch)
}

// ofBatch are the values of steps whose global batch is batch.
func ofBatch(v, batches []float64, batch float64) (out []float64) {
	for i := range v {
		if batches[i] == batch {
			out = append(out, v[i])
		}
	}
	return out
}

// megatronTokens adds what the list of arguments makes of steps of one global batch.
func megatronTokens(t *text, rec *record.Record, steps []float64, batch float64) error {
	args := map[string]float64{}
	for _, line := range t.lines {
		if m := megatronArg.FindStringSubmatch(line); m != nil {
			args[m[1]], _ = strconv.ParseFloat(m[2], 64) // digits alone
		}
	}
	seq, world := args["seq_length"], args["world_size"]
	if !(seq > 0 && seq <= mostCount && world > 0 && batch > 0) || len(steps) == 0 {
		return nil
	}
	for i := range rec.Results {
		if r := &rec.Results[i]; r.What == "step" {
			r.Tokens = int64(batch) * int64(seq)
		}
	}
	rates := make([]float64, len(steps))
	for i := range steps {
		rates[i] = batch * seq / world / steps[i]
	}
	if err := addTraining(rec, "tokens", "tokens/s", rates); err != nil {
		return err
	}
	rec.Results[len(rec.Results)-1].Ranks = int(min(world, 1<<30))
	return nil
}

// titan reads a torchtitan log: tps is per device.
func titan(t *text, rec *record.Record) error {
	rates, err := numbers(t, titanStep, mostTokens)
	if err != nil {
		return err
	}
	if err := addTraining(rec, "tokens", "tokens/s", rates); err != nil {
		return err
	}
	flops, err := numbers(t, titanFLOPs, mostFLOPs)
	for i := range flops {
		flops[i] *= 1e12
	}
	if err != nil {
		return err
	}
	return addTraining(rec, "flops", "FLOP/s", flops)
}

// nemo reads a NeMo log: the time of a step.
func nemo(t *text, rec *record.Record) error {
	steps, err := numbers(t, nemoStep, longestStep)
	if err != nil {
		return err
	}
	if err := addTraining(rec, "step", "s", steps); err != nil {
		return err
	}
	batch, err := numbers(t, nemoBatch, mostCount)
	if err != nil {
		return err
	}
	seq, err := numbers(t, nemoSeq, mostCount)
	if err == nil && len(batch) > 0 && len(steps) > 0 {
		r := &rec.Results[len(rec.Results)-1]
		if r.Batch = int(batch[len(batch)-1]); len(seq) > 0 {
			r.Tokens = int64(r.Batch) * int64(seq[len(seq)-1])
		}
	}
	if err == nil && len(batch) > 0 && len(seq) > 0 {
		rec.Notes = append(rec.Notes, fmt.Sprintf("global batch %g, sequence length %g", batch[len(batch)-1], seq[len(seq)-1]))
	}
	return err
}
