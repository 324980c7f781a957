package cli

import (
	"cmp"
	"context"
	"io"
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
		if err := checkRuns(cmd, configs); err != nil {
			return err
		}
		thresholds, err := readThresholds(limits, validate.MetricLatency)
		if err != nil {
			return err
		}
		d, lost := validateOperators(cmd.Context(), runs, predictions)
		if d == nil {
			return lost
		}
		return cmp.Or(lost, show(cmd, d, report.Operators), judge(d, thresholds))
	}
	return cmd
}

// validateOperators scores the tables; not a single scored row is bad input. A document beside an
// error is whole: its predictions could not be written.
func validateOperators(ctx context.Context, runs, predictions string) (d *validate.Document, err error) {
	if _, _, err := validate.OperatorTables(runs); err != nil {
		return nil, usagef("--runs: %w", err)
	}
	score := func(w io.Writer) (err error) {
		d, err = validate.Operators(ctx, runs, w)
		if err == nil && d.Scored == 0 && len(d.Skipped) > 0 {
			err = usagef("--runs: no row scored: %s: %s", d.Skipped[0].ID, strings.TrimPrefix(d.Skipped[0].Reason, d.Skipped[0].ID+": "))
		}
		if err != nil {
			d = nil
		}
		return err
	}
	if predictions == "" {
		return d, score(nil)
	}
	err = writeFile(predictions, func(w io.Writer) error { return score(heedless{w}) })
	return d, err
}

// heedless lets scoring go on where a file cannot be written; writeFile's own writer remembers that and tells.
type heedless struct{ io.Writer }

func (h heedless) Write(p []byte) (int, error) {
	_, _ = h.Writer.Write(p)
	return len(p), nil
}
