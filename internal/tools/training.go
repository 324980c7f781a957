package tools

import (
	"fmt"
	"maps"
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
	megatronKeys  = regexp.MustCompile(`(?:^|[\s,])(tensor|pipeline|virtual_pipeline|context|expert|micro)[-_](?:model[-_]parallel[-_ ]size|parallel[-_ ]size|batch_size)(?:: | \.+ )(\d+|None)\b`)
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
	steps, flops, batch := ofLastBatch(rec, steps, flops, batches)
	if err := addTraining(rec, "step", "s", steps); err != nil {
		return err
	}
	if len(steps) > 0 {
		r := &rec.Results[len(rec.Results)-1]
		r.Batch = int(batch)
		if r.Layout, err = megatronLayout(t); err != nil {
			return err
		}
	}
	if err := addTraining(rec, "flops", "FLOP/s", flops); err != nil {
		return err
	}
	return megatronTokens(t, rec, steps, batch)
}

// megatronLayout is the layout that the log states, as keys of a plan: in its list of arguments, or in
// the line of the world's size. None of virtual stages is one.
func megatronLayout(t *text) (string, error) {
	keys := map[string]string{"tensor": "tp", "pipeline": "pp", "virtual_pipeline": "vpp", "context": "cp", "expert": "ep", "micro": "mbs"}
	said := map[string]string{}
	for _, line := range t.lines {
		for _, m := range megatronKeys.FindAllStringSubmatch(line, -1) {
			k, n := keys[m[1]], strings.Replace(strings.TrimLeft(m[2], "0"), "None", "1", 1)
			if n == "" {
				continue
			}
			if said[k] != "" && said[k] != n {
				return "", fmt.Errorf("it states %s=%s and %s=%s: give the log of one run", k, said[k], k, n)
			}
			said[k] = n
		}
	}
	var layout []string
	for _, k := range slices.Sorted(maps.Keys(said)) {
		layout = append(layout, k+"="+said[k])
	}
	return strings.Join(layout, ","), nil
}

// ofLastBatch are the steps of the last global batch and, where each step has them, their FLOP/s: batches
// may grow over a run. batch is 0 where the log does not say which steps had which.
func ofLastBatch(rec *record.Record, steps, flops, batches []float64) (s, f []float64, batch float64) {
	n := len(steps)
	switch {
	case len(batches) == n && n > 0:
		batch = batches[n-1]
		s = ofBatch(steps, batches, batch)
		if f = flops; len(flops) == n {
			f = ofBatch(flops, batches, batch)
		}
		if len(s) < n {
			rec.Notes = append(rec.Notes, fmt.Sprintf("the global batch changes: only the %d steps of the last one, %g, are read", len(s), batch))
		}
		return s, f, batch
	case len(batches) > 0 && slices.Min(batches) == slices.Max(batches): // a line is cut
		batch = batches[0]
	}
	return steps, flops, batch
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
			v, _ := strconv.ParseFloat(m[2], 64) // digits alone
			if was, again := args[m[1]]; again && was != v {
				return fmt.Errorf("it states %s %g and %g: give the log of one run", m[1], was, v)
			}
			args[m[1]] = v
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

// nemo reads a NeMo log: the time of a step, and its tokens where batch and sequence stand there.
func nemo(t *text, rec *record.Record) error {
	steps, err := numbers(t, nemoStep, longestStep)
	if err != nil {
		return err
	}
	batches, err := numbers(t, nemoBatch, mostCount)
	if err != nil {
		return err
	}
	seq, err := numbers(t, nemoSeq, mostCount)
	if err != nil {
		return err
	}
	steps, _, batch := ofLastBatch(rec, steps, nil, batches)
	if err := addTraining(rec, "step", "s", steps); err != nil || batch == 0 || len(steps) == 0 {
		return err
	}
	r := &rec.Results[len(rec.Results)-1]
	if r.Batch = int(batch); len(seq) > 0 {
		last := seq[len(seq)-1]
		r.Tokens = int64(r.Batch) * int64(last)
		rec.Notes = append(rec.Notes, fmt.Sprintf("global batch %g, sequence length %g", batch, last))
	}
	return nil
}
