package cli

import (
	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/report"
)

func newInferRatioCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ratio",
		Short: "How many prefill workers go with how many decode workers",
		Long: `Price a plan of two roles with every number of workers of each, 1 to 16, that the cluster holds;
workers= of a role keeps its number.
Each pair stands for its best load among those of --concurrency, without it and under --slo also between
powers of two; the best pair gives most output
per GPU within the objective.`,
		Example: `  ridgeline infer ratio --model deepseek-r1 --cluster h200x64 --plan 'prefill:tp=8;decode:tp=8' --isl 4096 --osl 1024 --slo ttft=2s,tpot=50ms
  ridgeline infer ratio --model llama-3.1-8b --cluster h100x8 --plan 'prefill:tp=1;decode:tp=1' --isl 2048 --osl 256 --concurrency 1..256 --json`,
		Args: positional(0, 0, ""),
	}
	request := inferQuestion(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := request()
		if err != nil {
			return err
		}
		bar := newProgress(env.Stderr)
		r.Progress = bar.update
		a, err := api.InferRatio(cmd.Context(), r)
		bar.clear()
		switch {
		case err != nil:
			return inferError(cmd, err)
		case *asJSON:
			err = report.JSON(env.Stdout, report.NewRatioDoc(a))
		default:
			err = env.print(func(p *report.Page) { report.Ratio(p, a) })
		}
		if err != nil {
			return err
		}
		if why := report.UnmetRatio(a); why != "" {
			return infeasiblef("%s", why)
		}
		return nil
	}
	return cmd
}
