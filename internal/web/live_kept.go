package web

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ridgeline/ridgeline/internal/store"
)

const (
	// quietAfter is how long a process that tells of itself every second may say
	// nothing: longer than it waits for a busy disk.
	quietAfter = 12 * time.Second
	// lost is when a measurement without news is no longer shown as one under way.
	lost = 10 * time.Minute
)

// begun names an evaluation of another process.
type begun struct {
	Model  string `json:"model"`
	Target string `json:"target" doc:"the service's URL"`
}

// quiet says that a process tells nothing more: it died, or its machine sleeps.
type quiet struct {
	Since   string  `json:"since" doc:"of the last news, RFC 3339, UTC"`
	Seconds float64 `json:"seconds" doc:"since then"`
}

// elsewhere is the evaluation of that number that another process tells of in the file
// of kept runs, 0 = the latest; nil where there is none.
func (s *Server) elsewhere(ctx context.Context, id int64) (*store.Live, error) {
	if s.options.Store == nil {
		return nil, nil
	}
	return s.options.Store.Underway(ctx, id, time.Now().Add(-lost))
}

// aloneNow refuses where another process tells of an evaluation and told lately: one
// that is quiet may be dead.
func (s *Server) aloneNow(ctx context.Context) error {
	other, err := s.elsewhere(ctx, 0)
	if err == nil && other != nil && time.Since(other.At) < quietAfter {
		err = benchRunning()
	}
	return err
}

// watchKept takes a watcher's place.
func (l *live) watchKept() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.crowded()
	if err == nil {
		l.kept++
	}
	return err
}

func (l *live) leaveKept() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept--
}

// followKept hands on what another process tells, until it is over.
func (s *Server) followKept(h huma.Context, l *store.Live) {
	defer s.live.leaveKept()
	e := s.newEvents(h)
	defer e.tick.Stop()
	e.send("bench", begun{l.Model, l.Target})
	e.send("sample", l.State)
	last, silent := l.At, false
	for e.failed == nil {
		if age := time.Since(last); age > quietAfter && !silent {
			silent = true
			e.send("quiet", quiet{last.Format(time.RFC3339), age.Seconds()})
		}
		select {
		case <-e.tick.C:
		case <-h.Context().Done():
			return
		case <-s.gate.closing.Done():
			return
		}
		id := l.ID
		if silent {
			id = 0 // another one may have begun meanwhile
		}
		now, err := s.elsewhere(h.Context(), id)
		switch {
		case err != nil || now == nil || now.ID != l.ID: // over, or the file can be read no more
			e.send("end", ended{})
			return
		case now.At.After(last):
			last, silent = now.At, false
			e.send("sample", now.State)
		default:
			e.beat()
		}
	}
}
