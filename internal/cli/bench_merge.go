package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/input"
)

func newBenchMergeCommand(env *Env) *cobra.Command {
	var slo bench.SLO
	var at, records string
	var outputs benchOutputs
	cmd := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Join the records of several workers into one report",
		Long: `Join what several workers of one evaluation recorded with --records. Every figure is derived anew
from all requests together, so that percentiles are exact: those of the workers' reports cannot be
joined. Stages are joined by their number, their levels add up; clocks are joined by the wall clock
at each worker's start, so let the workers' clocks agree.`,
		Example: `  ridgeline bench merge worker-0.jsonl worker-1.jsonl --slo ttft=500ms,tpot=30ms --html all.html`,
		Args:    positional(1, 10_000, "the files that bench --records wrote"),
	}
	cmd.Flags().Var(ask.Quantity(&slo, bench.ParseSLO, "SLO", ""), "slo", "of every request, for goodput: ttft=2s,tpot=50ms,itl=200ms,e2e=30s or some of them; exit 4 where a stage misses it")
	cmd.Flags().StringVar(&at, "slo-at", "mean", "`STAT` of a stage that must keep it: mean, p50, p90, p95, p99 or max")
	cmd.Flags().StringVar(&records, "records", "", "write all records to `FILE`")
	outputs.register(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutputs(cmd, benchFiles, args...); err != nil {
			return err
		}
		var files []*bench.Recorded
		for _, name := range args {
			f, err := input.Open(name)
			if err != nil {
				return badInput(err)
			}
			list, err := bench.ReadRecords(f, name)
			f.Close()
			if err != nil {
				return badInput(err)
			}
			files = append(files, list)
		}
		var with *bench.SLO
		if cmd.Flags().Changed("slo") {
			if !slices.Contains(bench.Promises, at) {
				return badInput(ask.UnknownWord("--slo-at", at, bench.Promises, "use mean, p50, p90, p95, p99 or max"))
			}
			slo.At = at
			with = &slo
		}
		d, err := bench.Merge(files, with)
		if err != nil {
			return badInput(err)
		}
		if records != "" {
			file := &recordFile{name: records}
			for _, x := range files {
				for _, r := range x.Records {
					_ = file.write(r) // close tells of those that could not be written
				}
			}
			if err := file.close(); err != nil {
				return err
			}
		}
		f := benchFlags{question: ask.NewBench(), outputs: outputs}
		return f.show(env, cmd.Context(), *asJSON, d)
	}
	return cmd
}
