package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/validate"
)

func newValidateServingCommand(env *Env) *cobra.Command {
	var runs string
	var p validate.ServingPredictor
	var limits []string
	cmd := &cobra.Command{
		Use:   "serving",
		Short: "Predict measured serving runs and state the errors",
		Long: `Predict every row of a table of serving runs (mean TTFT and TPOT under a fixed number of
requests in flight) from its description alone and state the errors by model, GPU, engine,
layout and concurrency. docs/validate-your-runs.md lists the columns.

Rows that cannot be read or predicted are listed with the reason; where a row is malformed or
names an unknown GPU or model the others are scored all the same and the exit code is 2.
--fail-above METRIC=FRACTION exits with 4 where a metric's median error is larger.`,
		Example: `  ridgeline validate serving --runs inference_runs.csv --configs hf-configs
  ridgeline validate serving --runs inference_runs.csv --json --fail-above tpot=0.12 --fail-above ttft=0.5`,
		Args: positional(0, 0, ""),
	}
	cmd.Flags().StringVar(&runs, "runs", "", "read the runs from `FILE`, CSV or JSON lines")
	cmd.Flags().StringArrayVar(&limits, "fail-above", nil, "exit 4 if the median error of `METRIC=FRACTION` is larger")
	configsFlag(cmd, &p.Configs)
	machine := machineFlag(cmd)
	show := env.validationShow(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkRuns(cmd, p.Configs, *machine); err != nil {
			return err
		}
		var err error
		if p.Machine, err = readMachine(*machine); err != nil {
			return err
		}
		thresholds, err := readThresholds(limits, validate.MetricTPOT, validate.MetricTTFT)
		if err != nil {
			return err
		}
		d, err := validateServing(cmd.Context(), runs, &p)
		if err != nil {
			return err
		}
		if err := show(cmd, d, report.Serving); err != nil {
			return err
		}
		return cmp.Or(interrupted(d), judge(d, thresholds))
	}
	return cmd
}

func validateServing(ctx context.Context, path string, p *validate.ServingPredictor) (*validate.Document, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, usagef("--runs: %w: give a file of runs, CSV or JSON lines", err)
	}
	defer f.Close()
	runs, bad, err := validate.ReadServing(f, path)
	if err != nil {
		return nil, badInput(err)
	}
	return validate.Serving(ctx, runs, bad, p), nil
}

// judge decides the exit code of a document: rows that are bad input before a missed
// threshold.
func judge(d *validate.Document, limits []threshold) error {
	if d.Malformed > 0 {
		return usagef("--runs: bad input left out: %s", d.LeftOutWords(d.Malformed))
	}
	return missed(d, limits)
}
