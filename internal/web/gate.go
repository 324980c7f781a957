package web

import (
	"context"
	"time"
)

// Limits bound what requests may take; zero values are the defaults.
type Limits struct {
	Body    int64         // bytes of a request, default 1 MiB
	Turns   int           // searches at once, default 2; twice as many quick answers beside them
	Waiting int           // requests that wait for a turn, default 256
	Time    time.Duration // of one answer, default 2 min
	// Connections are those open at once, default 512; further ones wait to be accepted.
	Connections int
	// Watchers are the streams that follow an evaluation at once, default 32.
	Watchers int
	// Held are the bytes of answers that wait for slow readers, default 256 MiB.
	Held int64
	// Patience is what a client may take to read 64 KiB of an answer, default 10 s.
	Patience time.Duration
}

func (l Limits) filled() Limits {
	if l.Body == 0 {
		l.Body = 1 << 20
	}
	if l.Turns == 0 {
		l.Turns = 2
	}
	if l.Waiting == 0 {
		l.Waiting = 256
	}
	if l.Time == 0 {
		l.Time = 2 * time.Minute
	}
	if l.Connections == 0 {
		l.Connections = 512
	}
	if l.Watchers == 0 {
		l.Watchers = 32
	}
	if l.Held == 0 {
		l.Held = 256 << 20
	}
	if l.Patience == 0 {
		l.Patience = 10 * time.Second
	}
	return l
}

// gate lets few answers be computed at once: a search takes all cores, so that
// more of them would only make each slower. Quick answers, which follow a slider,
// have turns of their own.
type gate struct {
	searches, quick lane
	time            time.Duration
	closing         context.Context // ends when the server does
}

type lane struct{ turns, waiting chan struct{} }

func newLane(turns, waiting int) lane {
	return lane{make(chan struct{}, turns), make(chan struct{}, turns+waiting)}
}

func newGate(ctx context.Context, l Limits) *gate {
	return &gate{newLane(l.Turns, l.Waiting), newLane(2*l.Turns, l.Waiting), l.Time, ctx}
}

// enter waits for a turn, no longer than an answer may take. The context it returns ends with the request, the
// server or the time; leave must be called.
func (g *gate) enter(ctx context.Context, quick bool) (_ context.Context, leave func(), _ error) {
	lane := g.searches
	if quick {
		lane = g.quick
	}
	select {
	case lane.waiting <- struct{}{}:
	default:
		return nil, nil, unavailable(codeCrowded, nil, "too many requests wait for an answer: try again later").again(crowdedAgain)
	}
	patience := time.NewTimer(g.time)
	defer patience.Stop()
	select {
	case lane.turns <- struct{}{}:
	case <-patience.C:
		<-lane.waiting
		return nil, nil, unavailable(codeNoTurn, values{"seconds": g.time.Seconds()}, "no turn came within "+g.time.String()+": try again later").again(crowdedAgain)
	case <-ctx.Done():
		<-lane.waiting
		return nil, nil, errGone
	case <-g.closing.Done():
		<-lane.waiting
		return nil, nil, stopping()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, g.time, errTime)
	stop := context.AfterFunc(g.closing, cancel)
	return ctx, func() {
		stop()
		cancel()
		<-lane.turns
		<-lane.waiting
	}, nil
}

// crowdedAgain is when a request that found no turn may be sent again: seconds.
const crowdedAgain = 10

func stopping() *Problem {
	return unavailable(codeStopping, nil, "the server is stopping: start it again")
}

// cut words a computation that its context ended.
func (g *gate) cut(ctx context.Context) error {
	switch {
	case g.closing.Err() != nil:
		return stopping()
	case context.Cause(ctx) == errTime:
		return unavailable(codeTooLong, values{"seconds": g.time.Seconds()}, "the answer passed "+g.time.String()+": fix more keys of the plan, take a smaller cluster, or send fewer requests")
	}
	return errGone
}
