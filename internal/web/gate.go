package web

import (
	"context"
	"net/http"
	"time"
)

// Limits bound what requests may take; zero values are the defaults.
type Limits struct {
	Body    int64         // bytes of a request, default 1 MiB
	Turns   int           // answers computed at once, default 2
	Waiting int           // requests that wait for a turn, default 256
	Time    time.Duration // of one answer, default 2 min
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
	return l
}

// gate lets few answers be computed at once: a search takes all cores, so that
// more of them would only make each slower. Cheap answers do not pass it.
type gate struct {
	turns, waiting chan struct{}
	time           time.Duration
	closing        context.Context // ends when the server does
}

func newGate(ctx context.Context, l Limits) *gate {
	return &gate{make(chan struct{}, l.Turns), make(chan struct{}, l.Turns+l.Waiting), l.Time, ctx}
}

// enter waits for a turn. The context it returns ends with the request, the
// server or the time; leave must be called.
func (g *gate) enter(ctx context.Context) (_ context.Context, leave func(), _ error) {
	select {
	case g.waiting <- struct{}{}:
	default:
		return nil, nil, problem(http.StatusServiceUnavailable, "too many requests wait for an answer: try again later")
	}
	select {
	case g.turns <- struct{}{}:
	case <-ctx.Done():
		<-g.waiting
		return nil, nil, problem(statusGone, "the request was cancelled")
	case <-g.closing.Done():
		<-g.waiting
		return nil, nil, stopping()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, g.time, errTime)
	stop := context.AfterFunc(g.closing, cancel)
	return ctx, func() {
		stop()
		cancel()
		<-g.turns
		<-g.waiting
	}, nil
}

// statusGone is what logs call a request whose client went away; nobody reads it.
const statusGone = 499

func stopping() *Problem {
	return problem(http.StatusServiceUnavailable, "the server is stopping: start it again")
}

// cut words a computation that its context ended.
func (g *gate) cut(ctx context.Context) *Problem {
	switch {
	case g.closing.Err() != nil:
		return stopping()
	case context.Cause(ctx) == errTime:
		return problem(http.StatusServiceUnavailable, "the search passed "+g.time.String()+": fix more keys of the plan, or take a smaller cluster")
	}
	return problem(statusGone, "the request was cancelled")
}
