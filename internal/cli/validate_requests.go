package cli

import (
	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/validate"
)

func newValidateRequestsCommand(env *Env) *cobra.Command {
	var runs string
	var p validate.ServingPredictor
	var limits []string
	cmd := &cobra.Command{
		Use:   "requests",
		Short: "Replay measured requests in simulation and state the errors",
		Long: `Replay the arrivals and lengths of a measured run on the simulated engine and state the errors
of TTFT, TPOT and end-to-end time: of single requests (median, mean, p90) and of the mean, p50,
p90 and p99 over all. FILE.jsonl holds a request per line with its time stamps, FILE.config.json
beside it the deployment; docs/validate-your-runs.md lists the keys.

--fail-above METRIC=FRACTION exits with 4 where the error of a metric's mean is larger.`,
		Example: `  ridgeline validate requests --runs RTX4090-Llama-3.1-8B.jsonl --configs hf-configs
  ridgeline validate requests --runs run.jsonl --json --fail-above tpot=0.05 --fail-above ttft=0.2`,
		Args: positional(0, 0, ""),
	}
	cmd.Flags().StringVar(&runs, "runs", "", "read the requests from the JSONL `FILE`")
	cmd.Flags().StringArrayVar(&limits, "fail-above", nil, "exit 4 if the error of the mean of `METRIC=FRACTION` is larger")
	configsFlag(cmd, &p.Configs)
	machine := machineFlag(cmd)
	show := env.validationShow(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkRuns(cmd, p.Configs, *machine, validate.RequestsConfigPath(runs)); err != nil {
			return err
		}
		var err error
		if p.Machine, err = readMachine(*machine); err != nil {
			return err
		}
		thresholds, err := readThresholds(limits, validate.MetricTTFT, validate.MetricTPOT, validate.MetricE2E)
		if err != nil {
			return err
		}
		d, err := validate.RequestsFile(cmd.Context(), runs, &p)
		if err != nil && cmd.Context().Err() != nil {
			return err
		}
		if err != nil {
			return usagef("--runs: %w", err)
		}
		if err := show(cmd, d, report.Requests); err != nil {
			return err
		}
		return judge(d, thresholds)
	}
	return cmd
}
