package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/sched"
)

func newTrainCommand(env *Env) *cobra.Command {
	var trace string
	cmd := &cobra.Command{
		Use:     "train",
		GroupID: groupPlan,
		Short:   "Find, rank and explain plans for training a model on a cluster",
		Long: `Search the legal parallel plans of a model on a cluster with the global batch kept as
given, rank those that fit, and say why the best one is best, what binds it, what the others
lack and what would change the verdict. With --plan, keys that are not given are searched and
the plan is compared with the best of the whole space.`,
		Example: `  ridgeline train --model deepseek-v3 --cluster h800x2048 --global-batch 15360 --seq 4096 --precision fp8
  ridgeline train --model deepseek-v3 --cluster h800x2048 --global-batch 15360 --seq 4096 --precision fp8 --plan fsdp
  ridgeline train --model llama-3.1-70b --cluster h100x64 --global-batch 512 --seq 8192 --tokens 1T --price 2
  ridgeline train --model config.json --cluster mine.yaml --global-batch 256 --seq 4096 --plan tp=8,pp=4,zero=1 --trace step.json`,
		Args: positional(0, 0, ""),
	}
	request := trainQuestion(cmd)
	cmd.Flags().StringVar(&trace, "trace", "", "write the best plan's step for Perfetto or chrome://tracing to `FILE`")
	asJSON := jsonFlag(cmd)
	var keep keepFlags
	keep.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkAnswers(cmd, "trace"); err != nil {
			return err
		}
		r, err := request()
		if err != nil {
			return err
		}
		bar := newProgress(env.Stderr)
		r.Progress = bar.update
		a, err := api.Train(cmd.Context(), r)
		bar.clear()
		if err != nil {
			return failed(cmd, err)
		}
		if trace != "" {
			if err := writeTrace(trace, a); err != nil {
				return err
			}
		}
		if err := keep.answer(cmd, env, report.NewTrainDoc(a)); err != nil {
			return err
		}
		if err := show(env, *asJSON, a); err != nil {
			return err
		}
		return verdict(cmd, a)
	}
	return cmd
}

// failed is bad input, unless the user interrupted.
func failed(cmd *cobra.Command, err error) error {
	if cmd.Context().Err() != nil {
		return fmt.Errorf("interrupted: %w", err)
	}
	return badInput(err)
}

// verdict is the exit code of an answer that was printed.
func verdict(cmd *cobra.Command, a *api.TrainAnswer) error {
	switch {
	case cmd.Context().Err() != nil:
		return errors.New("interrupted: the plans above are the best of those looked at so far")
	case !a.Best.Fits:
		return infeasiblef("no plan fits: the nearest needs %s", a.NearestNeeds())
	}
	return nil
}

func show(env *Env, asJSON bool, a *api.TrainAnswer) error {
	if asJSON {
		return report.JSON(env.Stdout, report.NewTrainDoc(a))
	}
	return env.print(func(p *report.Page) { report.Train(p, a) })
}

// writeTrace writes the passes of the best plan's step.
func writeTrace(file string, a *api.TrainAnswer) error {
	l, err := a.Layout()
	if err != nil {
		return err
	}
	return writeFile(file, func(w io.Writer) error { return sched.Trace(l, w) })
}
