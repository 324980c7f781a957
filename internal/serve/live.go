package serve

import (
	"slices"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// Live is a simulated service whose requests come while it runs: whoever drives
// it submits them and moves the clock. What happens is what Run does with the
// same requests at the same times. It is for one goroutine at a time.
type Live struct {
	sim  *simulation
	sent int // requests submitted
}

// NewLive sets a service up whose clock stands at 0 and whose prompts are known
// in blocks of blockTokens tokens, 0 without. gave is told of each n tokens that
// a request gets, when they come: at Record.Last.
func NewLive(service *Service, blockTokens int, options Options, gave func(r *workload.Record, n int)) (*Live, error) {
	s, err := newSimulation(service, &workload.Workload{BlockTokens: blockTokens}, options)
	if err != nil {
		return nil, err
	}
	s.gave = gave
	return &Live{sim: s}, nil
}

// Next is the time of the next event; ok is false while nothing is to happen.
func (l *Live) Next() (at time.Duration, ok bool) { return l.sim.clock.Next() }

// Advance lets everything up to a time happen.
func (l *Live) Advance(to time.Duration) error {
	for at, ok := l.Next(); ok && at <= to; at, ok = l.Next() {
		e, _ := l.sim.clock.Take()
		if err := l.sim.handle(e); err != nil {
			return err
		}
	}
	return nil
}

// Submit hands in a request that arrives at a time, which may not lie before the
// clock, and lets what comes before happen. Its record is filled as time goes on;
// one that can never run is Dropped at once.
func (l *Live) Submit(at time.Duration, r workload.Request) (*workload.Record, error) {
	if err := l.Advance(at - 1); err != nil {
		return nil, err
	}
	rec := &workload.Record{Request: r}
	if err := l.sim.clock.Put(at, first, event{kind: comes, seq: &sequence{record: rec, order: l.sent}}); err != nil {
		return nil, err
	}
	l.sent++
	return rec, l.Advance(at)
}

// Cancel gives a request up: it leaves the queue now, or its place when the steps
// that it is part of are over. A request that has ended stays as it is.
func (l *Live) Cancel(r *workload.Record) error {
	if r.Outcome != workload.Unfinished {
		return nil
	}
	r.Outcome = workload.Cancelled
	for _, in := range slices.Concat(l.sim.readers, l.sim.decoders) {
		for _, k := range in.ranks {
			if s := k.waiting.remove(r); s != nil {
				return l.sim.done(k, s)
			}
			if i := slices.IndexFunc(k.running, func(s *sequence) bool { return s.record == r }); i >= 0 {
				s := k.running[i]
				s.quota = s.emitted + s.pending
				k.leaving = k.leaving || s.ended()
				return nil
			}
		}
	}
	return nil // on its way: it goes no further than the next queue
}

// State is how a live service stands.
type State struct {
	Running, Waiting   int // sequences that run, and requests in queues or on their way there
	KVUsed, KVBlocks   int
	Arrived, Done      int
	Dropped, Cancelled int
	Prompt, Cached     int64 // prompt tokens run, and found in the prefix cache instead
	Queried            int64 // prompt tokens of requests that entered their first step
	Output             int64 // tokens given to users
	Preempted, Steps   int64
	Drafts             int64 // parts of steps in which a sequence drafted
	Drafted, Accepted  int64 // tokens drafted, and those that held
}

// State counts what is there and what went through.
func (l *Live) State() State {
	f := &l.sim.flow
	s := State{Arrived: f.Arrived, Done: f.Done, Dropped: f.Dropped, Cancelled: f.Cancelled, Prompt: f.Prompt, Cached: f.Cached,
		Queried: f.Queried, Output: f.Output, Preempted: f.Preempted, Steps: f.Steps, Drafts: f.Drafts, Drafted: f.Drafted, Accepted: f.Accepted}
	for _, in := range slices.Concat(l.sim.readers, l.sim.decoders) {
		used, capacity := in.kv()
		s.KVUsed, s.KVBlocks = s.KVUsed+used, s.KVBlocks+capacity
		for _, r := range in.ranks {
			s.Running += len(r.running)
		}
	}
	s.Waiting = f.underway() - s.Running
	return s
}
