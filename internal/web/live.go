package web

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/bench"
)

// live is the evaluation under way, of which there is one at most: two would
// measure each other.
type live struct {
	mu       sync.Mutex
	on       bool
	most     int // watchers at once
	kept     int // watchers of what other processes tell
	watchers map[chan liveEvent]struct{}
}

// ended is all there is to say to who follows an evaluation that is over.
type ended struct{}

type liveEvent struct {
	name string
	data any
}

// begin takes the only place.
func (l *live) begin() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.on {
		return benchRunning()
	}
	l.on = true
	return nil
}

func benchRunning() error {
	return problem(http.StatusConflict, "an evaluation is under way, and two would measure each other: wait for its end").coded(codeBenchRunning, nil)
}

// end gives the place back; watchers are told by the end of their events.
func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on = false
	for w := range l.watchers {
		close(w)
	}
	l.watchers = nil
}

// tell hands an event on; a watcher that does not keep up misses some.
func (l *live) tell(e liveEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.watchers {
		select {
		case w <- e:
		default:
		}
	}
}

// watchAgain is when a watcher that found no place may try again: seconds.
const watchAgain = 10

// watch gets the events from now on; nil where nothing is under way. It fails where
// as many watch already as may.
func (l *live) watch() (w chan liveEvent, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.on {
		return nil, nil
	}
	if err := l.crowded(); err != nil {
		return nil, err
	}
	w = make(chan liveEvent, 256)
	if l.watchers == nil {
		l.watchers = map[chan liveEvent]struct{}{}
	}
	l.watchers[w] = struct{}{}
	return w, nil
}

// crowded fails where no more may watch; the caller holds the lock.
func (l *live) crowded() error {
	if len(l.watchers)+l.kept < l.most {
		return nil
	}
	return unavailable(codeWatchers, values{"most": l.most, "seconds": watchAgain}, fmt.Sprintf("%d watch this evaluation already, as many as may: close another page, or try again in %d s", l.most, watchAgain)).again(watchAgain)
}

func (l *live) leave(w chan liveEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watchers, w)
}

func liveOf(x *bench.Event) (liveEvent, bool) {
	switch x.Phase {
	case bench.StageDone:
		return liveEvent{"stage", x.Finished}, true
	case bench.Measuring:
		return liveEvent{"sample", api.SampleOf(x)}, true
	}
	return liveEvent{}, false
}

// follow hands the events of this server's evaluation on.
func (s *Server) follow(h huma.Context, w chan liveEvent) {
	defer s.live.leave(w)
	e := s.newEvents(h)
	defer e.tick.Stop()
	for e.failed == nil {
		select {
		case x, ok := <-w:
			if !ok { // also as the server stops, which ends the evaluation
				e.send("end", ended{})
				return
			}
			e.send(x.name, x.data)
		case <-e.tick.C:
			e.beat()
		case <-h.Context().Done():
			return
		}
	}
}
