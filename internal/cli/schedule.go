package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

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

// writeFile creates a file that the user named: a name that cannot be created
// is bad input, a write that fails a failure.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return usagef("%w: name a file that can be written", err)
	}
	if err := write(f); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.Close()
}

// writable tells of a file that writeFile could not write, before long work; one that
// is there keeps what it holds, one that is not does not appear. "" is no file.
func writable(flag, name string) error {
	if name == "" {
		return nil
	}
	was, missing := os.Stat(name)
	if missing == nil && !was.Mode().IsRegular() && !was.IsDir() {
		return nil // a pipe or a device: opening it has effects
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return usagef("--%s: %w: name a file that can be written", flag, err)
	}
	err = f.Close()
	if errors.Is(missing, fs.ErrNotExist) {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

func scheduleNames() []cobra.Completion { return ask.Schedules() }
