package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/tune"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// trainingFlags are training logs and what they leave unsaid about their jobs.
type trainingFlags struct {
	logs, plans, batches, seqs, precisions, mtps, gpus []string
}

// job is one flag that holds for all logs, or for each its own.
type job struct {
	name, usage string
	values      *[]string
}

func (f *trainingFlags) jobs() []job {
	return []job{
		{"plan", "`KEYS` of the layout of a training log, as in `ridgeline train`; keys that are left out are searched", &f.plans},
		{"global-batch", "sequences per step of a training log, `N`", &f.batches},
		{"seq", "tokens per sequence of a training log, `N`", &f.seqs},
		{"precision", "`POLICY` of a training log (default bf16)", &f.precisions},
		{"mtp", "multi-token-prediction modules of a training log, `N` (default 0)", &f.mtps},
		{"gpus", "GPUs of a training log, `N` (default: those of --cluster)", &f.gpus},
	}
}

func (f *trainingFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&f.logs, "training", nil, "a training log of a model, `MODEL=LOG`; may be given several times")
	for _, j := range f.jobs() {
		fs.StringArrayVar(j.values, j.name, nil, strings.ReplaceAll(j.usage, "`ridgeline train`", "ridgeline train"))
	}
}

// read reads every log with its job.
func (f *trainingFlags) read(cmd *cobra.Command, base *hw.Cluster) (list []tune.TrainingRun, err error) {
	for _, j := range f.jobs() {
		switch n := len(*j.values); {
		case n > 0 && len(f.logs) == 0:
			return nil, usagef("--%s is of a training log: give --training MODEL=LOG too", j.name)
		case n > 1 && n != len(f.logs):
			return nil, usagef("--%s is given %d times for %d training logs: give it once for all, or once for each", j.name, n, len(f.logs))
		case n == 1 || n == len(f.logs):
		case j.name == "plan" || j.name == "global-batch" || j.name == "seq":
			return nil, usagef("--training needs --%s: name the job of the log, see `ridgeline calibrate --help`", j.name)
		}
	}
	if len(f.logs) > 0 && base == nil {
		return nil, usagef("--training needs --cluster: name the machine of the log, for example h100x64")
	}
	for i := range f.logs {
		run, err := f.one(i, base)
		if err != nil {
			return nil, err
		}
		if j := slices.IndexFunc(list, func(r tune.TrainingRun) bool { return sameLog(&r, &run) }); j >= 0 {
			return nil, usagef("--training %s is given twice (%s): a run that stands beside itself would make its own held-out error look small", f.logs[i], f.logs[j])
		}
		list = append(list, run)
	}
	return list, nil
}

// sameLog tells a log that is given twice: one file under two names, or a copy, which tells
// of equal steps of an equal job.
func sameLog(a, b *tune.TrainingRun) bool {
	x, errX := os.Stat(a.Record.Source)
	y, errY := os.Stat(b.Record.Source)
	if errX == nil && errY == nil && os.SameFile(x, y) {
		return true
	}
	p, q := a.Request, b.Request
	return slices.Equal(a.Record.Results, b.Record.Results) && p.Model.Name == q.Model.Name && p.Cluster.GPUs == q.Cluster.GPUs &&
		p.GlobalBatch == q.GlobalBatch && p.Seq == q.Seq && p.Fixed.Plan == q.Fixed.Plan
}

// one reads a log and its job.
func (f *trainingFlags) one(i int, base *hw.Cluster) (run tune.TrainingRun, err error) {
	name, file, ok := strings.Cut(f.logs[i], "=")
	if !ok || name == "" || file == "" {
		return run, usagef("--training %q: give MODEL=LOG, for example llama-3.1-70b=megatron.log", f.logs[i])
	}
	of := func(values []string, missing string) string { return each(values, i, missing) }
	r := &api.TrainRequest{Cluster: base.Clone(), Top: 1, Alone: true}
	if r.Model, err = findModel(name, ""); err != nil {
		return run, err
	}
	for _, c := range []struct {
		flag, text string
		most       int64
		into       func(int64)
	}{
		{"global-batch", of(f.batches, ""), 1 << 24, func(n int64) { r.GlobalBatch = int(n) }},
		{"seq", of(f.seqs, ""), 1 << 24, func(n int64) { r.Seq = int(n) }},
		{"mtp", of(f.mtps, "0"), 1 << 10, func(n int64) { r.MTP = int(n) }},
		{"gpus", of(f.gpus, ""), catalog.MaxGPUs, func(n int64) { r.Cluster.GPUs = n }},
	} {
		if c.text == "" && c.flag == "gpus" {
			continue
		}
		n, err := unit.ParseCount(c.text)
		if err != nil || n > c.most || n < 1 && c.flag != "mtp" {
			return run, usagef("--%s %q: give a whole number from 1 to %d", c.flag, c.text, c.most)
		}
		c.into(n)
	}
	if err := r.Cluster.Validate(); err != nil {
		return run, badInput(err)
	}
	if r.Precision, err = plan.ParsePrecision(of(f.precisions, "bf16")); err != nil {
		return run, badInput(err)
	}
	if r.Fixed, err = plan.Parse(of(f.plans, "")); err != nil {
		return run, badInput(err)
	}
	if err := r.Fixed.Moot(r.Model); err != nil {
		return run, badInput(err)
	}
	run.Request = r
	run.Record, err = readRecord(file)
	return run, err
}
