package ask

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Schedule is a question about a pipeline schedule with equal stages.
type Schedule struct {
	Flags *pflag.FlagSet

	stages, microbatches, vpp int64
	f, b, w, fb, comm         unit.Seconds
}

// NewSchedule is a question with nothing given.
func NewSchedule() *Schedule {
	o := &Schedule{Flags: pflag.NewFlagSet("schedule", pflag.ContinueOnError), vpp: 1, f: 1e-3}
	fs := o.Flags
	Count(fs, &o.stages, "stages", "pipeline ranks")
	Count(fs, &o.microbatches, "microbatches", "micro-batches per step")
	Count(fs, &o.vpp, "vpp", "chunks per rank, for interleaved (default 1)")
	Duration(fs, &o.f, "f", "forward, per stage and micro-batch (default 1ms)")
	Duration(fs, &o.b, "b", "input gradient, per stage and micro-batch (default: as --f)")
	Duration(fs, &o.w, "w", "weight gradient, per stage and micro-batch (default: as --f)")
	Duration(fs, &o.fb, "fb", "overlapped forward and backward of dualpipe and dualpipe-v (default: f + b + w)")
	Duration(fs, &o.comm, "comm", "delay of each boundary crossing (default 0)")
	return o
}

// Request is the schedule of that name that the question describes.
func (o *Schedule) Request(name string) (*sched.Spec, error) {
	given := o.Flags.Changed
	kind, ok := sched.ParseKind(strings.ToLower(name))
	if !ok {
		return nil, note.Of("name", UnknownWord("schedule", name, Schedules(), "use "+strings.Join(Schedules(), ", ")))
	}
	if err := Required(o.Flags, "stages", "microbatches"); err != nil {
		return nil, err
	}
	if err := NotEmpty(o.Flags, "trace"); err != nil {
		return nil, err
	}
	for flag, n := range map[string]int64{"stages": o.stages, "microbatches": o.microbatches, "vpp": o.vpp} {
		if n > math.MaxInt32 {
			return nil, fmt.Errorf("--%s %d is too large: give at most %d", flag, n, math.MaxInt32)
		}
	}
	paired := kind == sched.DualPipe || kind == sched.DualPipeV
	if given("fb") && !paired {
		return nil, fmt.Errorf("--fb is the overlapped pass of dualpipe and dualpipe-v: leave it out for %s", kind)
	}
	if !given("b") {
		o.b = o.f
	}
	if !given("w") {
		o.w = o.f
	}
	if o.f+o.b+o.w == 0 {
		return nil, fmt.Errorf("--f, --b and --w are all 0: give one of them a time, for example --f 1ms")
	}
	spec := sched.Uniform(kind, int(o.stages), int(o.microbatches), int(o.vpp), o.f, o.b, o.w, o.comm, o.fb)
	if given("fb") && o.fb == 0 { // a length as good as any; Uniform's 0 stands for f + b + w
		spec.Times.Pair = func(int, int) unit.Seconds { return 0 }
	}
	return spec, partOf(o.check(spec))
}

func (o *Schedule) check(spec *sched.Spec) error {
	if err := spec.Drawable(); err != nil { // first, since it is narrower than what can be laid out
		return err
	}
	return spec.Validate()
}

// partOf says which field an error of the pipeline's size is about.
func partOf(err error) error {
	var part *sched.PartError
	if errors.As(err, &part) {
		return note.Of(part.Part, err)
	}
	return err
}

// Schedules are the names of the schedules.
func Schedules() (names []string) {
	for k := range sched.NumKinds {
		names = append(names, k.String())
	}
	return names
}
