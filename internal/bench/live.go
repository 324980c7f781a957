package bench

import (
	"sync"
	"sync/atomic"
	"time"
)

// Phase is what a run is doing.
type Phase string

// The phases.
const (
	Checking  Phase = "checking" // first questions, before any stage
	Measuring Phase = "measuring"
	StageDone Phase = "stage" // one stage is over: Event.Finished holds it
)

// Event is the state of a run, for whoever watches it.
type Event struct {
	Phase     Phase
	Stage     int // from 0
	Stages    int // 0 = not known: a search
	Level     Level
	Elapsed   time.Duration // of the stage
	Total     int           // requests of the stage, 0 = bounded by time
	Sent      int
	OK        int
	Failed    int // failed and truncated
	InFlight  int
	Tokens    int64   // that came in the stage, a chunk of unknown ones as one
	TokenRate float64 // of those since the event before, tokens/s
	Finished  *Stage  // not nil when Phase is StageDone
}

// tick is the time between events.
const tick = 250 * time.Millisecond

// live counts what happens and tells it on.
type live struct {
	run                   *run
	nSent, nOK, nBad, all atomic.Int64
	flying, tokens        atomic.Int64

	mu     sync.Mutex
	event  Event
	begun  time.Time
	on     bool
	quit   chan struct{}
	exited chan struct{}
}

func newLive(r *run) *live {
	l := &live{run: r, quit: make(chan struct{}), exited: make(chan struct{})}
	go l.tell()
	return l
}

func (l *live) begin(stage, stages int, level Level) {
	for _, n := range []*atomic.Int64{&l.nSent, &l.nOK, &l.nBad, &l.all, &l.flying, &l.tokens} {
		n.Store(0)
	}
	l.mu.Lock()
	l.event, l.begun, l.on = Event{Phase: Measuring, Stage: stage, Stages: stages, Level: level}, time.Now(), true
	l.mu.Unlock()
}

func (l *live) total(n int) { l.all.Store(int64(n)) }

func (l *live) sent() { l.nSent.Add(1); l.flying.Add(1) }

func (l *live) done(r *Record) {
	l.flying.Add(-1)
	switch r.Outcome {
	case OK:
		l.nOK.Add(1)
	case Failed, Truncated:
		l.nBad.Add(1)
	}
}

func (l *live) end() {
	l.mu.Lock()
	l.on = false
	l.mu.Unlock()
}

// finished tells of a stage that is over.
func (l *live) finished(s *Stage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.now()
	e.Phase, e.Finished = StageDone, s
	l.run.progress(e)
}

// now is the event of this moment; the caller holds the lock.
func (l *live) now() Event {
	e := l.event
	e.Elapsed = time.Since(l.begun)
	e.Sent, e.OK, e.Failed, e.Total = int(l.nSent.Load()), int(l.nOK.Load()), int(l.nBad.Load()), int(l.all.Load())
	e.InFlight, e.Tokens = int(l.flying.Load()), l.tokens.Load()
	if d := e.Elapsed - l.event.Elapsed; d > 0 && e.Tokens >= l.event.Tokens {
		e.TokenRate = float64(e.Tokens-l.event.Tokens) / d.Seconds()
	}
	l.event.Elapsed, l.event.Tokens = e.Elapsed, e.Tokens
	return e
}

func (l *live) tell() {
	defer close(l.exited)
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-t.C:
			l.mu.Lock()
			if l.on {
				l.run.progress(l.now())
			}
			l.mu.Unlock()
		}
	}
}

func (l *live) stop() { close(l.quit); <-l.exited }
