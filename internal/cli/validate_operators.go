package cli

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/validate"
)

func newValidateOperatorsCommand(env *Env) *cobra.Command {
	var runs, predictions, configs string
	var limits []string
	cmd := &cobra.Command{
		Use:   "operators",
		Short: "Predict measured kernel tables and state the errors",
		Long: `Predict every row of measured kernel tables (GEMM, routed experts, attention, latent
attention, collectives, expert exchange) from its description alone and state the errors of
its latency, a group per table. --runs is a folder <gpu>/<kind>/*.parquet or one table; the
engine is the part of the file's name before its version.

--predictions FILE keeps every prediction as a line of JSON, in milliseconds.
--fail-above latency=FRACTION exits with 4 where the median error is larger.`,
		Example: `  ridgeline validate operators --runs operators
  ridgeline validate operators --runs operators/h100/gemm/vllm-0.24.0-gemm_perf.parquet --json --fail-above latency=0.12`,
		Args: positional(0, 0, ""),
	}
	cmd.Flags().StringVar(&runs, "runs", "", "read the kernel tables from the `PATH`, a folder or a parquet file")
	cmd.Flags().StringVar(&predictions, "predictions", "", "write every prediction to `FILE`, one JSON object a line")
	cmd.Flags().StringArrayVar(&limits, "fail-above", nil, "exit 4 if the median error of `METRIC=FRACTION` is larger")
	configsFlag(cmd, &configs) // every kind takes it; kernels name no model
	show := env.validationShow(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := required(cmd, "runs"); err != nil {
			return err
		}
		thresholds, err := latencyThresholds(limits)
		if err != nil {
			return err
		}
		d, err := validateOperators(runs, predictions)
		if err != nil {
			return err
		}
		if err := show(cmd, d, report.Operators); err != nil {
			return err
		}
		return judge(d, thresholds)
	}
	return cmd
}

// validateOperators scores the tables; not a single scored row is bad input.
func validateOperators(runs, predictions string) (*validate.Document, error) {
	if _, err := validate.OperatorTables(runs); err != nil {
		return nil, usagef("--runs: %w", err)
	}
	var d *validate.Document
	var err error
	if predictions == "" {
		d, err = validate.Operators(runs, nil)
	} else {
		err = writeFile(predictions, func(w io.Writer) (err error) {
			d, err = validate.Operators(runs, w)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	if d.Scored == 0 && len(d.Skipped) > 0 {
		return nil, usagef("--runs: no row scored: %s: %s", d.Skipped[0].ID, d.Skipped[0].Reason)
	}
	return d, nil
}

func latencyThresholds(texts []string) ([]threshold, error) {
	var list []threshold
	for _, t := range texts {
		metric, value, _ := strings.Cut(t, "=")
		most, err := strconv.ParseFloat(value, 64)
		if metric != validate.MetricLatency || err != nil || !(most >= 0) {
			return nil, usagef("--fail-above %q: give %s=FRACTION, for example %s=0.12", t, validate.MetricLatency, validate.MetricLatency)
		}
		list = append(list, threshold{metric, most})
	}
	return list, nil
}
