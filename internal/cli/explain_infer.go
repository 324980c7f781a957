package cli

import (
	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/report"
)

func newExplainInferCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "infer",
		Short: "One row per operation of a prefill and a decode step",
		Long: `List the operations of one GPU under the best deployment that --plan leaves open, in a step
that reads a prompt and in one that generates: FLOPs, bytes, FLOPs per byte, lower, estimated and
upper time, and what binds each.`,
		Example: `  ridgeline explain infer --model deepseek-r1 --cluster h200x8 --plan tp=8 --isl 1024 --osl 1024 --concurrency 64
  ridgeline explain infer --model llama-3.1-70b --cluster h100x4 --plan tp=4 --isl 2048 --osl 256 --concurrency 1 --json`,
		Args: positional(0, 0, ""),
	}
	request := inferQuestion(cmd)
	if err := cmd.Flags().MarkHidden("calibrate"); err != nil { // it scales whole steps, of which no row here is a part
		panic(err)
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := request()
		if err != nil {
			return err
		}
		a, steps, err := api.ExplainInfer(cmd.Context(), r)
		switch {
		case err != nil:
			return inferError(cmd, err)
		case *asJSON:
			err = report.JSON(env.Stdout, report.NewServingOperationsDoc(a, steps))
		default:
			err = env.print(func(p *report.Page) { report.InferOperations(p, a, steps) })
		}
		if err != nil {
			return err
		}
		return unmet(a)
	}
	return cmd
}
