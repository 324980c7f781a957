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
	titanStep  = regexp.MustCompile(`step:\s*\d+.*?tps:\s*([^\s|]+)`)
	titanFLOPs = regexp.MustCompile(`tflops:\s*([^\s|]+)`)
	nemoStep   = regexp.MustCompile(`train_step_timing in s(?::|=)\s*([^\s|,\]]+)`)
	nemoBatch  = regexp.MustCompile(`global_batch_size:\s*([0-9.]+)`)
	nemoSeq    = regexp.MustCompile(`seq_length['":=\s]+(\d+)`)
	escapes    = regexp.MustCompile("\x1b\\[[0-9;]*m")
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
