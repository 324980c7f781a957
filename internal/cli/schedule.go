package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/sched"
)

func newScheduleCommand(env *Env) *cobra.Command {
	o := ask.NewSchedule()
	var trace string
	cmd := &cobra.Command{
		Use:     "schedule NAME",
		GroupID: groupPlan,
		Short:   "Lay out and draw a pipeline schedule",
		Long: `Lay out a pipeline schedule with equal stages, draw it in letters and sum it up.

F is a forward pass, B a backward pass, W a weight gradient of its own (the B before it is
the input gradient alone), with the number of the micro-batch.`,
		Example: `  ridgeline schedule 1f1b --stages 4 --microbatches 8
  ridgeline schedule interleaved --stages 4 --microbatches 8 --vpp 2 --f 10ms --b 10ms --w 10ms --comm 0.5ms
  ridgeline schedule dualpipe --stages 8 --microbatches 20 --fb 2.6ms --trace dualpipe.json`,
		Args:              positional(1, 1, "NAME, a schedule such as 1f1b"),
		ValidArgsFunction: completeArg(scheduleNames),
	}
	cmd.Flags().AddFlagSet(o.Flags)
	cmd.Flags().StringVar(&trace, "trace", "", "write a trace for Perfetto or chrome://tracing to `FILE`")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := ask.NotEmpty(cmd.Flags(), "trace"); err != nil {
			return badInput(err)
		}
		spec, err := o.Request(args[0])
		if err != nil {
			return asked(cmd, err)
		}
		l, err := sched.Lay(spec)
		if err != nil {
			return badInput(err)
		}
		if trace != "" {
			if err := writeFile(trace, func(w io.Writer) error { return sched.Trace(l, w) }); err != nil {
				return err
			}
		}
		if *asJSON {
			return report.JSON(env.Stdout, report.NewScheduleDoc(l))
		}
		return env.print(func(p *report.Page) { report.Schedule(p, spec, l) })
	}
	return cmd
}

func scheduleNames() []cobra.Completion { return ask.Schedules() }
