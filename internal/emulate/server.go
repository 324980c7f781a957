// Package emulate is an OpenAI-compatible server without a model: what it streams
// is filler, when it streams is the simulated engine's. Requests are handed to
// package serve's event simulation as they come over HTTP, the simulation's clock
// runs with the wall's, and tokens leave when the simulation gives them. There is
// no second engine: queueing, chunked prompts, KV blocks and preemption are those
// of `simulate`, and package infer prices every step.
//
// It stands in for a deployment that is not there yet, fails on demand, and keeps
// stamps of what it did, so that a client's figures can be held against the truth.
package emulate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Config is a server to be. Zero values are given beside each field.
type Config struct {
	Service *serve.Service
	Model   string // the name that clients ask for
	Seed    uint64 // of drafts that hold, answers' lengths and faults
	// Speed is simulated time over the wall's, 0 = 1: at 10 a step of 20 ms takes 2 ms.
	Speed float64
	// Interval is the tokens of a streamed chunk after the first, which comes with
	// the first token (vLLM's --stream-interval), 0 = 1.
	Interval int
	// Answer is after how many tokens an answer ends by itself, zero = never.
	Answer workload.Length
	// Reasoning is how many tokens of a chat answer go to the reasoning channel first.
	Reasoning int
	Faults    Faults
	Observe   func(*Record) // told of each request when it has ended, or nil; calls may overlap
}

// Server is an emulated service.
type Server struct {
	config Config
	engine *engine
	meter  *meter
	draws  draws
	start  time.Time
	// underway is held for reading by every answer: net/http does not wait for those
	// whose connection was taken from it.
	underway sync.RWMutex
}

// New sets a server up; Serve runs it.
func New(c Config) (*Server, error) {
	switch {
	case c.Speed < 0 || c.Speed != c.Speed:
		return nil, fmt.Errorf("speed %g: give more than 0", c.Speed)
	case c.Interval < 0:
		return nil, fmt.Errorf("stream-interval %d: give at least 1 token", c.Interval)
	case c.Reasoning < 0:
		return nil, fmt.Errorf("reasoning %d: give 0 tokens or more", c.Reasoning)
	}
	if c.Speed == 0 {
		c.Speed = 1
	}
	c.Interval = max(c.Interval, 1)
	s := &Server{config: c, start: time.Now(), draws: newDraws(c.Seed)}
	var err error
	if s.engine, err = newEngine(&c, s.start); err != nil {
		return nil, err
	}
	s.meter = newMeter(s.engine, c.Model, c.Service.Engine.Entry)
	return s, nil
}

// Grace is how long answers underway may go on when the server is told to stop.
const Grace = 5 * time.Second

// headerTime is within which a client must send its headers.
const headerTime = 30 * time.Second

// Serve answers on l until ctx is cancelled, then lets what is underway end for at
// most Grace. It returns nil after that, or why it could not go on.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	running, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		stop(s.engine.run(running))
	}()
	h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTime, BaseContext: func(net.Listener) context.Context { return running }}
	closed := make(chan error, 1)
	go func() {
		select {
		case <-ctx.Done():
		case <-running.Done():
		}
		limit, cancel := context.WithTimeout(context.Background(), Grace)
		defer cancel()
		err := h.Shutdown(limit)
		if err != nil {
			stop(nil)
			err = h.Close()
		}
		closed <- err
	}()
	err := h.Serve(l)
	if !errors.Is(err, http.ErrServerClosed) {
		stop(err)
	}
	err = <-closed
	s.underway.Lock()
	defer s.underway.Unlock()
	cause := context.Cause(running)
	stop(nil)
	<-done
	if cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// Handler is the HTTP side of the server.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, chat) })
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, text) })
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"version": "ridgeline"})
	})
	mux.Handle("GET /metrics", s.meter.handler())
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "NotFoundError", fmt.Sprintf("%s %s is not served: /v1/chat/completions, /v1/completions, /v1/models, /metrics and /health are", r.Method, r.URL.Path))
	})
	return mux
}

// models lists the one model.
func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []map[string]any{
		{"id": s.config.Model, "object": "model", "created": s.start.Unix(), "owned_by": "ridgeline", "max_model_len": s.config.Service.Engine.MaxContext}}})
}

// since is a moment of the server's own clock: the time from its start.
func (s *Server) since() time.Duration { return time.Since(s.start) }
