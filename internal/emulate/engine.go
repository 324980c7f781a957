package emulate

import (
	"context"
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/pace"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// engine drives the event simulation with the wall clock. Every event has an
// absolute time, so that a late timer delays one event and no later one.
type engine struct {
	mu     sync.Mutex
	live   *serve.Live
	start  time.Time
	speed  float64
	taken  map[*workload.Record]*answer
	failed error
	wake   chan struct{} // an event may have come that is earlier than the one waited for
}

// answer is the tokens that one request was given and nobody has fetched yet.
type answer struct {
	record *workload.Record // of the simulation: read it under engine.mu
	mu     sync.Mutex
	due    []given
	more   chan struct{}
}

// given is n tokens that came at a time of the simulation.
type given struct {
	n  int
	at time.Duration
}

func newEngine(c *Config, start time.Time) (*engine, error) {
	e := &engine{start: start, speed: c.Speed, taken: map[*workload.Record]*answer{}, wake: make(chan struct{}, 1)}
	block := 0
	if c.Service.Engine.PrefixCache {
		block = c.Service.Engine.BlockSize
	}
	var err error
	e.live, err = serve.NewLive(c.Service, block, serve.Options{Seed: c.Seed}, e.gave)
	return e, err
}

// simulated and wall turn a time since the server's start into the simulation's
// and back.
func (e *engine) simulated(wall time.Duration) time.Duration {
	return time.Duration(float64(wall) * e.speed)
}
func (e *engine) wall(simulated time.Duration) time.Duration {
	return time.Duration(float64(simulated) / e.speed)
}

// now is the simulation's present: its clock may lag behind, never run ahead.
func (e *engine) now() time.Duration { return e.simulated(time.Since(e.start)) }

// gave is told by the simulation, under mu, of tokens that came.
func (e *engine) gave(r *workload.Record, n int) {
	a := e.taken[r]
	if a == nil {
		return // its client has gone
	}
	if r.Generated == r.Output {
		delete(e.taken, r)
	}
	a.mu.Lock()
	a.due = append(a.due, given{n, r.Last})
	a.mu.Unlock()
	signal(a.more)
}

// signal leaves word for whoever waits on c, which has room for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// fetch gives the tokens that came since the last call; into is reused.
func (a *answer) fetch(into []given) []given {
	a.mu.Lock()
	defer a.mu.Unlock()
	into = append(into[:0], a.due...)
	a.due = a.due[:0]
	return into
}

// submit hands a request to the simulation now. One that can never run comes back
// Dropped in the record.
func (e *engine) submit(r workload.Request) (*answer, workload.Record, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil {
		return nil, workload.Record{}, e.failed
	}
	rec, err := e.live.Submit(e.now(), r)
	if err != nil {
		e.failed = err
		signal(e.wake)
		return nil, workload.Record{}, err
	}
	a := &answer{record: rec, more: make(chan struct{}, 1)}
	if rec.Outcome == workload.Unfinished {
		e.taken[rec] = a
		signal(e.wake)
	}
	return a, *rec, nil
}

// cancel gives a request up.
func (e *engine) cancel(a *answer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil {
		return
	}
	delete(e.taken, a.record)
	if e.failed = e.live.Cancel(a.record); e.failed != nil {
		signal(e.wake)
	}
}

// look copies a request's record.
func (e *engine) look(a *answer) workload.Record {
	e.mu.Lock()
	defer e.mu.Unlock()
	return *a.record
}

// state is how the simulation stands.
func (e *engine) state() serve.State {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.live.State()
}

// advance lets what is due happen and says when the next event is.
func (e *engine) advance() (next time.Duration, ok bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed == nil {
		e.failed = e.live.Advance(e.now())
	}
	next, ok = e.live.Next()
	return e.wall(next), ok, e.failed
}

// run drives the simulation until ctx ends or a step has no price. A request that
// is submitted during the last stretch of a wait is simulated at its own time, and
// brings no token before the event that is waited for.
func (e *engine) run(ctx context.Context) error {
	var clock pace.Clock
	for ctx.Err() == nil {
		next, ok, err := e.advance()
		if err != nil {
			return err
		}
		if ok {
			clock.Until(e.start.Add(next), e.wake, ctx.Done())
			continue
		}
		select {
		case <-ctx.Done():
		case <-e.wake:
		}
	}
	return nil
}
