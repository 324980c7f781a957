package tools

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/record"
)

// warmUp is the first logged steps that are left out where enough others follow:
// they hold compilation, autotuning and the filling of caches.
const warmUp = 3

// settled leaves the warm-up out.
func settled(v []float64) []float64 {
	if len(v) > 2*warmUp {
		return v[warmUp:]
	}
	return v
}

// addTraining adds a quantity of a training run, per second and GPU.
func addTraining(rec *record.Record, what, unit string, v []float64) {
	if v = settled(v); len(v) == 0 {
		return
	}
	r := record.Result{Kind: record.Training, What: what, Unit: unit}
	r.Summarize(v)
	rec.Results = append(rec.Results, r)
}

var (
	megatronStep  = regexp.MustCompile(`elapsed time per iteration \(ms\): ([0-9.]+)`)
	megatronFLOPs = regexp.MustCompile(`throughput per GPU \(TFLOP/s/GPU\): ([0-9.]+)`)
	megatronBatch = regexp.MustCompile(`global batch size:\s+(\d+)`)
	megatronArg   = regexp.MustCompile(`^\s*(?:\[?\S*\]?:? )?\s*(seq_length|world_size|data_parallel_size) \.+ (\d+)\s*$`)
	titanStep     = regexp.MustCompile(`step:\s*\d+.*?tps:\s*([0-9,.]+)`)
	titanFLOPs    = regexp.MustCompile(`tflops:\s*([0-9,.]+)`)
	nemoStep      = regexp.MustCompile(`train_step_timing in s(?::|=)\s*([0-9.]+)`)
	nemoBatch     = regexp.MustCompile(`global_batch_size:\s*([0-9.]+)`)
	nemoSeq       = regexp.MustCompile(`seq_length['":=\s]+(\d+)`)
	escapes       = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// numbers are the first group of every match in the log, colours left out.
func numbers(t *text, re *regexp.Regexp) ([]float64, error) {
	var out []float64
	for i, line := range t.lines {
		m := re.FindStringSubmatch(escapes.ReplaceAllString(line, ""))
		if m == nil {
			continue
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("line %d: %q is no measurement", i+1, m[1])
		}
		out = append(out, v)
	}
	return out, nil
}

// megatron reads a Megatron-LM log: the time of a step, and tokens per second and GPU
// where the log holds the list of arguments too.
func megatron(t *text, rec *record.Record) error {
	steps, err := numbers(t, megatronStep)
	if err != nil {
		return err
	}
	for i := range steps {
		steps[i] *= 1e-3
	}
	addTraining(rec, "step", "s", steps)
	flops, err := numbers(t, megatronFLOPs)
	if err != nil {
		return err
	}
	for i := range flops {
		flops[i] *= 1e12
	}
	addTraining(rec, "flops", "FLOP/s", flops)
	batch, err := numbers(t, megatronBatch)
	if err != nil || len(batch) != len(steps) {
		return err
	}
	args := map[string]float64{}
	for _, line := range t.lines {
		if m := megatronArg.FindStringSubmatch(line); m != nil {
			args[m[1]], _ = strconv.ParseFloat(m[2], 64) // digits alone
		}
	}
	if seq, world := args["seq_length"], args["world_size"]; seq > 0 && world > 0 {
		rates := make([]float64, len(steps))
		for i := range steps {
			rates[i] = batch[i] * seq / world / steps[i]
		}
		addTraining(rec, "tokens", "tokens/s", rates)
		rec.Results[len(rec.Results)-1].Ranks = int(min(world, 1<<30))
	}
	return nil
}

// titan reads a torchtitan log: tps is per device.
func titan(t *text, rec *record.Record) error {
	rates, err := numbers(t, titanStep)
	if err != nil {
		return err
	}
	addTraining(rec, "tokens", "tokens/s", rates)
	flops, err := numbers(t, titanFLOPs)
	for i := range flops {
		flops[i] *= 1e12
	}
	addTraining(rec, "flops", "FLOP/s", flops)
	return err
}

// nemo reads a NeMo log: the time of a step.
func nemo(t *text, rec *record.Record) error {
	steps, err := numbers(t, nemoStep)
	if err != nil {
		return err
	}
	addTraining(rec, "step", "s", steps)
	batch, err := numbers(t, nemoBatch)
	if err != nil {
		return err
	}
	seq, err := numbers(t, nemoSeq)
	if err == nil && len(batch) > 0 && len(seq) > 0 {
		rec.Notes = append(rec.Notes, fmt.Sprintf("global batch %g, sequence length %g", batch[len(batch)-1], seq[len(seq)-1]))
	}
	return err
}
