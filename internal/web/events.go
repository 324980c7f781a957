package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Done is how far a computation is.
type Done struct {
	Done int `json:"done"`
	All  int `json:"all"`
}

// events writes server-sent events (HTML standard, section 9.2) on one connection.
type events struct {
	w        http.ResponseWriter
	patience time.Duration // with the client
	tick     *time.Ticker
	at       chan Done // the latest progress that was not sent
	mu       sync.Mutex
	last     time.Time
	failed   error
}

const (
	// eventPause keeps progress from costing more than the search.
	eventPause = 100 * time.Millisecond
	// heartbeat finds out that a client went away, and keeps proxies from closing.
	heartbeat = time.Second
)

func (s *Server) newEvents(h huma.Context) *events {
	_, w := humago.Unwrap(h)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	e := &events{w: w, patience: s.limits.Patience, tick: time.NewTicker(heartbeat), at: make(chan Done, 1)}
	e.failed = http.NewResponseController(w).Flush()
	return e
}

// progress notes how far the computation is; it never waits. Any goroutine may
// call it.
func (e *events) progress(done, all int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := time.Now(); now.Sub(e.last) < eventPause && done < all {
		return
	} else {
		e.last = now
	}
	select {
	case <-e.at: // older news
	default:
	}
	e.at <- Done{done, all}
}

// send writes one event.
func (e *events) send(name string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		e.failed = err
		return
	}
	e.write(eventText(name, b))
}

func eventText(name string, data []byte) []byte {
	return fmt.Appendf(make([]byte, 0, len(data)+len(name)+len("event: \ndata: \n\n")), "event: %s\ndata: %s\n\n", name, data)
}

// beat writes a comment.
func (e *events) beat() { e.write([]byte(":\n\n")) }

func (e *events) write(text []byte) {
	if e.failed == nil {
		e.failed = pour(e.w, e.patience, text)
	}
}
