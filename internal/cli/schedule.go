package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// scheduleFlags is what the user asked for.
type scheduleFlags struct {
	stages, microbatches, vpp int64
	f, b, w, fb, comm         unit.Seconds
	trace                     string
}

func newScheduleCommand(env *Env) *cobra.Command {
	o := scheduleFlags{vpp: 1, f: 1e-3}
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
	countFlag(cmd, &o.stages, "stages", "pipeline ranks")
	countFlag(cmd, &o.microbatches, "microbatches", "micro-batches per step")
	countFlag(cmd, &o.vpp, "vpp", "chunks per rank, for interleaved (default 1)")
	durationFlag(cmd, &o.f, "f", "forward, per stage and micro-batch (default 1ms)")
	durationFlag(cmd, &o.b, "b", "input gradient, per stage and micro-batch (default: as --f)")
	durationFlag(cmd, &o.w, "w", "weight gradient, per stage and micro-batch (default: as --f)")
	durationFlag(cmd, &o.fb, "fb", "overlapped forward and backward of dualpipe and dualpipe-v (default: f + b + w)")
	durationFlag(cmd, &o.comm, "comm", "delay of each boundary crossing (default 0)")
	cmd.Flags().StringVar(&o.trace, "trace", "", "write a trace for Perfetto or chrome://tracing to `FILE`")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, spec, err := layOut(cmd, args[0], &o)
		if err != nil {
			return err
		}
		if o.trace != "" {
			if err := writeFile(o.trace, func(w io.Writer) error { return sched.Trace(l, w) }); err != nil {
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

// layOut checks the flags and lays the schedule out.
func layOut(cmd *cobra.Command, name string, o *scheduleFlags) (*sched.Layout, *sched.Spec, error) {
	kind, ok := sched.ParseKind(strings.ToLower(name))
	if !ok {
		return nil, nil, unknownWord("schedule", name, kindNames(), "use "+strings.Join(kindNames(), ", "))
	}
	if err := required(cmd, "stages", "microbatches"); err != nil {
		return nil, nil, err
	}
	if err := notEmpty(cmd, "trace"); err != nil {
		return nil, nil, err
	}
	for flag, n := range map[string]int64{"stages": o.stages, "microbatches": o.microbatches, "vpp": o.vpp} {
		if n > math.MaxInt32 {
			return nil, nil, usagef("--%s %d is too large: give at most %d", flag, n, math.MaxInt32)
		}
	}
	paired := kind == sched.DualPipe || kind == sched.DualPipeV
	if cmd.Flags().Changed("fb") && !paired {
		return nil, nil, usagef("--fb is the overlapped pass of dualpipe and dualpipe-v: leave it out for %s", kind)
	}
	if !cmd.Flags().Changed("b") {
		o.b = o.f
	}
	if !cmd.Flags().Changed("w") {
		o.w = o.f
	}
	if o.f+o.b+o.w == 0 {
		return nil, nil, usagef("--f, --b and --w are all 0: give one of them a time, for example --f 1ms")
	}
	spec := sched.Uniform(kind, int(o.stages), int(o.microbatches), int(o.vpp), o.f, o.b, o.w, o.comm, o.fb)
	if cmd.Flags().Changed("fb") && o.fb == 0 { // a length as good as any; Uniform's 0 stands for f + b + w
		spec.Times.Pair = func(int, int) unit.Seconds { return 0 }
	}
	if err := spec.Drawable(); err != nil {
		return nil, nil, badInput(err)
	}
	l, err := sched.Lay(spec)
	return l, spec, badInput(err)
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

func kindNames() (names []string) {
	for k := range sched.NumKinds {
		names = append(names, k.String())
	}
	return names
}

func scheduleNames() []cobra.Completion { return kindNames() }
