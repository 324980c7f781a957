package web

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// sample is the state of an evaluation under way.
type sample struct {
	Stage    int     `json:"stage"`
	Stages   int     `json:"stages" doc:"0 = not known, as in a search"`
	Load     string  `json:"load"`
	Level    int     `json:"concurrency" doc:"of a closed loop, else 0"`
	Asked    float64 `json:"rate" doc:"requests/s of an open loop, else 0"`
	Seconds  float64 `json:"t" doc:"since the stage began"`
	Total    int     `json:"total" doc:"requests of the stage, 0 = bounded by time"`
	Sent     int     `json:"sent"`
	OK       int     `json:"ok"`
	Failed   int     `json:"failed"`
	InFlight int     `json:"in_flight"`
	Rate     float64 `json:"output_tokens_per_second"`
}

// live is the evaluation under way, of which there is one at most: two would
// measure each other.
type live struct {
	mu       sync.Mutex
	on       bool
	most     int // watchers at once
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
		return problem(http.StatusConflict, "an evaluation is under way, and two would measure each other: wait for its end").coded(codeBenchRunning, nil)
	}
	l.on = true
	return nil
}

// end gives the place back; watchers are told.
func (l *live) end() {
	l.tell(liveEvent{"end", ended{}})
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
	if len(l.watchers) >= l.most {
		full := unavailable(codeWatchers, values{"most": l.most, "seconds": watchAgain}, fmt.Sprintf("%d watch this evaluation already, as many as may: close another page, or try again in %d s", l.most, watchAgain))
		return nil, huma.ErrorWithHeaders(full, http.Header{"Retry-After": {strconv.Itoa(watchAgain)}})
	}
	w = make(chan liveEvent, 256)
	if l.watchers == nil {
		l.watchers = map[chan liveEvent]struct{}{}
	}
	l.watchers[w] = struct{}{}
	return w, nil
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
		concurrency, rate := 0, 0.0
		switch x.Level.Mode {
		case bench.Closed:
			concurrency = x.Level.Concurrency
		case bench.Open:
			rate = x.Level.Arrival.Rate
		}
		return liveEvent{"sample", sample{x.Stage, x.Stages, x.Level.String(), concurrency, rate, x.Elapsed.Seconds(), x.Total, x.Sent, x.OK, x.Failed, x.InFlight, x.TokenRate}}, true
	}
	return liveEvent{}, false
}

// follow hands the events of the evaluation under way on; w nil says that there is none.
func (s *Server) follow(h huma.Context, w chan liveEvent) {
	if w == nil {
		h.SetStatus(http.StatusNoContent)
		return
	}
	defer s.live.leave(w)
	e := newEvents(h)
	defer e.tick.Stop()
	for e.failed == nil {
		select {
		case x, ok := <-w:
			if !ok {
				return
			}
			e.send(x.name, x.data)
		case <-e.tick.C:
			e.beat()
		case <-h.Context().Done():
			return
		case <-s.gate.closing.Done():
			return
		}
	}
}
