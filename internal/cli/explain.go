package cli

import (
	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/train"
)

func newExplainCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "explain",
		GroupID: groupPlan,
		Short:   "Show a plan operation by operation",
		Example: `  ridgeline explain train --model deepseek-v3 --cluster h800x2048 --global-batch 15360 --seq 4096 --precision fp8 --plan pp=16,ep=64,zero=1
  ridgeline explain infer --model deepseek-r1 --cluster h200x8 --plan tp=8 --isl 1024 --osl 1024 --concurrency 64`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newExplainTrainCommand(env), newExplainInferCommand(env))
	return cmd
}

func newExplainTrainCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "train",
		Short: "One row per operation of a training plan",
		Long: `List the operations of one rank and one micro-batch under the best plan that --plan leaves
open: FLOPs, bytes, FLOPs per byte, lower, estimated and upper time, and what binds each.`,
		Example: `  ridgeline explain train --model llama-3.1-8b --cluster h100x8 --global-batch 128 --seq 8192 --plan tp=2
  ridgeline explain train --model deepseek-v3 --cluster h800x2048 --global-batch 15360 --seq 4096 --precision fp8 --plan pp=16,ep=64,zero=1 --json`,
		Args: positional(0, 0, ""),
	}
	request := trainQuestion(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := request()
		if err != nil {
			return err
		}
		a, rows, err := api.ExplainTrain(cmd.Context(), r)
		if err != nil {
			return failed(cmd, err)
		}
		if *asJSON {
			err = operationsDoc(env, a, rows)
		} else {
			err = env.print(func(p *report.Page) { report.Operations(p, a, rows) })
		}
		if err != nil {
			return err
		}
		return verdict(cmd, a)
	}
	return cmd
}

func operationsDoc(env *Env, a *api.TrainAnswer, rows []train.Row) error {
	roofs, err := a.Roofs()
	if err != nil {
		return err
	}
	return report.JSON(env.Stdout, report.NewOperationsDoc(a, rows, roofs))
}
