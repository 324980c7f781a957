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

var (
	megatronStep  = regexp.MustCompile(`elapsed time per iteration \(ms\): ([^\s|]+)`)
	megatronFLOPs = regexp.MustCompile(`throughput per GPU \(TFLOP/s/GPU\): ([^\s|]+)`)
	megatronBatch = regexp.MustCompile(`global batch size:\s+(\d+)`)
	megatronArg   = regexp.MustCompile(`^\s*(?:\[?\S*\]?:? )?\s*(seq_length|world_size|data_parallel_size) \.+ (\d+)\s*$`)
	megatronKeys  = regexp.MustCompile(`(?:^|[\s,])(tensor|pipeline|virtual_pipeline|context|expert|micro)[-_](?:model[-_]parallel[-_ ]size|parallel[-_ ]size|batch_size)(?:: | \.+ )(\d+|None)\b`)
)

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
