package serve

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// flow counts what went through since the start.
type flow struct {
	Arrived, Done, Dropped int
	Cancelled              int   // of those that arrived, by their users
	Moving                 int   // requests on their way to a queue, KV caches between instances
	Prompt                 int64 // prompt tokens run, again after a preemption
	Cached                 int64 // prompt tokens found in the prefix cache
	Queried                int64 // prompt tokens of requests that entered their first step
	Output                 int64 // tokens given to users
	Drafts                 int64 // parts of steps in which a sequence drafted
	Drafted, Accepted      int64 // tokens drafted, and those that held
	Preempted              int64
	Steps                  int64
	Busy                   time.Duration // of all instances that generate together
	Reading                time.Duration // of those that only read prompts
}

// underway is the requests that wait, move or run.
func (f *flow) underway() int { return f.Arrived - f.Done - f.Dropped - f.Cancelled }

// minus is what went through since an earlier count.
func (f flow) minus(e flow) flow {
	return flow{Arrived: f.Arrived - e.Arrived, Done: f.Done - e.Done, Dropped: f.Dropped - e.Dropped, Cancelled: f.Cancelled - e.Cancelled, Moving: f.Moving,
		Prompt: f.Prompt - e.Prompt, Cached: f.Cached - e.Cached, Output: f.Output - e.Output,
		Preempted: f.Preempted - e.Preempted, Queried: f.Queried - e.Queried,
		Drafts: f.Drafts - e.Drafts, Drafted: f.Drafted - e.Drafted, Accepted: f.Accepted - e.Accepted, Steps: f.Steps - e.Steps, Busy: f.Busy - e.Busy, Reading: f.Reading - e.Reading}
}

// The histogram of token gaps: up to eleven days in steps of 0.1 %.
const (
	longestGap = 1e15 // ns
	gapDigits  = 3
)

// fills is how finely the share of KV blocks in use is told apart.
const fills = 1000

// meters gather distributions over a stretch of the run.
type meters struct {
	gaps  *hdrhistogram.Histogram // ns between tokens of one sequence
	batch []time.Duration         // time of generating instances in steps of n sequences
	fill  []time.Duration         // time in steps with n/fills of the blocks held
}

func newMeters(largest int) *meters {
	return &meters{hdrhistogram.New(1, longestGap, gapDigits), make([]time.Duration, largest+1), make([]time.Duration, fills+1)}
}

// record adds a step of d.
func (m *meters) record(size, fill int, d time.Duration) {
	m.batch[size] += d
	m.fill[fill] += d
}

// watch observes a run: as a whole, and in the stretch between start-up and
// drain. Start-up ends when all requests that came before the first answer are
// answered; the drain starts with the last arrival.
type watch struct {
	whole, steady *meters
	timeline      timeline
	total         int // requests of the workload
	starters      int // requests that came before the first answer, 0 before it
	starting      int // of them, those not answered yet
	open, shut    bool
	from, to      time.Duration
	before, after flow   // at from and to
	half, last    queued // when half of the requests, and all, had arrived
}

// queued is how many requests have arrived and how many of them wait.
type queued struct{ arrived, waiting int }

func newWatch(s *Service, requests int) watch {
	largest := s.Engine.Ranks * s.Engine.MaxSeqs
	if s.Decode != nil {
		largest = max(largest, s.Decode.Ranks*s.Decode.MaxSeqs)
	}
	return watch{whole: newMeters(largest), steady: newMeters(largest), total: requests}
}

// arrival is told after each arrival.
func (w *watch) arrival(s *simulation) {
	switch s.flow.Arrived {
	case w.total:
		w.last, w.shut = queued{s.flow.Arrived, s.waiting()}, true
		if w.open {
			w.open, w.to, w.after = false, s.clock.Now(), s.flow
		}
	case w.total / 2:
		w.half = queued{s.flow.Arrived, s.waiting()}
	}
}

// answered is told after request i was done or dropped.
func (w *watch) answered(s *simulation, i int) {
	if w.starters == 0 {
		w.starters = s.flow.Arrived
		w.starting = s.flow.Arrived
	}
	if i >= w.starters {
		return
	}
	if w.starting--; w.starting == 0 && !w.shut {
		w.open, w.from, w.before = true, s.clock.Now(), s.flow
	}
}

// begin is told of each step that starts and lasts d.
func (w *watch) begin(f *flow, in *instance, now, d time.Duration) {
	f.Steps++
	used, capacity := in.kv()
	size, fill := in.current.size, used*fills/capacity
	if in.prefill {
		f.Reading += d
	} else {
		f.Busy += d
		w.whole.record(size, fill, d)
		if w.open {
			w.steady.record(size, fill, d)
		}
	}
	w.timeline.stretch(now, d, sample{running: float64(size), waiting: float64(in.waiting()), fill: float64(used) / float64(capacity)})
}

// gaps is told that n sequences got a token, each d after its last one.
func (w *watch) gaps(d time.Duration, n int) error {
	if err := w.whole.gaps.RecordValues(int64(d), int64(n)); err != nil {
		return fmt.Errorf("a token came %v after the one before: %w", d, err)
	}
	if !w.open {
		return nil
	}
	return w.steady.gaps.RecordValues(int64(d), int64(n))
}
