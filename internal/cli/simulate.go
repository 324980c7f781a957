package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/workload"
)

func newSimulateCommand(env *Env) *cobra.Command {
	var records string
	cmd := &cobra.Command{
		Use:     "simulate",
		GroupID: groupPlan,
		Short:   "Simulate a deployment under a load, request by request",
		Long: `Simulate continuous batching on a deployment, event by event: requests of a trace, of a rate
or of a closed loop queue, are read in chunks, share steps and KV blocks, lose them and come
back. Distributions of waiting and of token times follow, with the load at which queueing takes
over; tails are not stated where they measure nothing but the length of the run.

Plan keys that are not given are 1. Lengths are N, LOW..HIGH or N+-X%. An interrupt ends the
simulation and shows what was simulated. docs/formats.md lists traces and records.`,
		Example: `  ridgeline simulate --model deepseek-r1 --cluster h200x8 --plan tp=8 --rate 2 --isl 1024+-20% --osl 512 --slo ttft=2s,tpot=50ms
  ridgeline simulate --model llama-3.1-70b --cluster h100x8 --plan tp=4,replicas=2 --concurrency 64 --isl 2048 --osl 256
  ridgeline simulate --model deepseek-r1 --cluster h200x16 --plan "prefill:tp=8;decode:tp=8" --rate 2 --isl 4096 --osl 256 --arrival gamma:2
  ridgeline simulate --model llama-3.1-8b --cluster h100x4 --plan replicas=4 --trace azure.csv.gz --records out.jsonl --json`,
		Args: positional(0, 0, ""),
	}
	request := simulateQuestion(cmd)
	ask.Text(cmd.Flags(), &records, "records", "write what became of every request to `FILE`, one JSON object per line")
	asJSON := jsonFlag(cmd)
	var keep keepFlags
	keep.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkAnswers(cmd, "records"); err != nil {
			return err
		}
		r, err := request()
		if err != nil {
			return err
		}
		bar := newProgress(env.Stderr)
		bar.doing = "simulating"
		r.Progress = bar.update
		a, err := api.Simulate(cmd.Context(), r)
		bar.clear()
		if err != nil {
			return unfit(env, *asJSON, r.Service, "simulate", err)
		}
		if a.Result.Partial && a.Result.Done == 0 {
			return errors.New("interrupted before a request was answered: nothing to show")
		}
		var lost error // a file that cannot be written costs no answer
		if records != "" {
			lost = writeFile(records, func(w io.Writer) error { return workload.WriteRecords(w, a.Result.Records) })
		}
		kept := keep.answer(cmd, env, report.NewSimulateDoc(a))
		shown := showSimulation(env, *asJSON, a)
		return cmp.Or(lost, kept, shown)
	}
	return cmd
}

func showSimulation(env *Env, asJSON bool, a *api.SimulateAnswer) error {
	var err error
	if asJSON {
		err = report.JSON(env.Stdout, report.NewSimulateDoc(a))
	} else {
		err = env.print(func(p *report.Page) { report.Simulate(p, a) })
	}
	switch {
	case err != nil:
		return err
	case a.Result.Partial:
		return fmt.Errorf("interrupted: the figures are those of the %d requests answered so far", a.Result.Done)
	case a.Result.Done == 0:
		return infeasiblef("none of the %s can ever run: %s", report.Plural(int64(a.Result.Dropped), "request"), a.FirstDropped())
	case a.Missed != "":
		return &exitError{exitMissed, errors.New("the objective is missed: " + a.Missed)}
	}
	return nil
}
