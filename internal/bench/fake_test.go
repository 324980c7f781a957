package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// asked is a request as the scripted server got it.
type asked struct {
	N        int // of the requests so far, from 0
	At       time.Duration
	Messages []openai.Message
	Prompt   any
	Max      int             `json:"max_tokens"`
	Min      int             `json:"min_tokens"`
	Ignore   bool            `json:"ignore_eos"`
	Stream   bool            `json:"stream"`
	Options  map[string]bool `json:"stream_options"`
	Header   http.Header
}

// text is the prompt's text.
func (a *asked) text() string {
	if len(a.Messages) > 0 {
		return a.Messages[len(a.Messages)-1].Content
	}
	return fmt.Sprint(a.Prompt)
}

// stream writes a scripted answer. Every method that writes one event flushes it.
type stream struct {
	w http.ResponseWriter
	r *http.Request
}

// sleep waits on the virtual clock, or until the client is gone.
func (s *stream) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.r.Context().Done():
	}
}

func (s *stream) raw(text string) {
	if _, err := s.w.Write([]byte(text)); err == nil {
		s.w.(http.Flusher).Flush()
	}
}

func (s *stream) event(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	s.raw("data: " + string(b) + "\n\n")
}

type object = map[string]any

func (s *stream) delta(d object, more ...object) {
	e := object{"choices": []object{{"index": 0, "delta": d}}}
	for _, m := range more {
		for k, v := range m {
			e[k] = v
		}
	}
	s.event(e)
}

func usageOf(prompt, completion int) object {
	return object{"usage": object{"prompt_tokens": prompt, "completion_tokens": completion}}
}

func (s *stream) role() { s.delta(object{"role": "assistant", "content": ""}) }

// tokens sends n chunks of one word, each after the gap.
func (s *stream) tokens(n int, gap time.Duration) {
	for range n {
		s.sleep(gap)
		s.delta(object{"content": "word "})
	}
}

func (s *stream) finish() {
	s.event(object{"choices": []object{{"index": 0, "delta": object{}, "finish_reason": "length"}}})
}

func (s *stream) end(prompt, completion int) {
	s.finish()
	s.event(object{"choices": []object{}, "usage": usageOf(prompt, completion)["usage"]})
	s.raw("data: [DONE]\n\n")
}

// pipes is a network of net.Pipe within one bubble.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
	mu    sync.Mutex
	dials int
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	a, b := net.Pipe()
	p.mu.Lock()
	p.dials++
	p.mu.Unlock()
	select {
	case p.conns <- b:
		return a, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// world is what a test sees of an evaluation on the virtual clock.
type world struct {
	Report
	records []*Record
	asked   []*asked
	dials   int
	err     error
	watch   func(Event)
}

// script answers one request.
type script func(a *asked, s *stream)

// evaluate runs an evaluation against a scripted server, both on one virtual
// clock: what the server sleeps is what the client measures, to the nanosecond.
// The settings are one request in flight, one request, 8 tokens in and 4 out.
func evaluate(t *testing.T, answer script, set func(c *Config)) (w *world) {
	t.Helper()
	w = &world{}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		w.run(ctx, stop, answer, set)
	})
	return w
}

func (w *world) run(ctx context.Context, stop func(), answer script, set func(c *Config)) {
	net := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	began := time.Now()
	var mu sync.Mutex
	server := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		a := &asked{At: time.Since(began), Header: r.Header}
		if json.NewDecoder(r.Body).Decode(a) != nil {
			return // the client went away
		}
		mu.Lock()
		a.N = len(w.asked)
		w.asked = append(w.asked, a)
		mu.Unlock()
		answer(a, &stream{rw, r})
	})}
	go server.Serve(net)
	c := Config{Service: openai.Config{URL: "http://fake/v1", Model: "m", Dial: net.dial, Key: "sk-secret"}, Levels: []Level{{Mode: Closed, Concurrency: 1}},
		Input: workload.Length{Low: 8, High: 8}, Output: workload.Length{Low: 4, High: 4}, Requests: 1, Stream: true, IgnoreEOS: true, NoCheck: true, Metrics: "-", Nonce: "n"}
	c.Record = func(r *Record) error { w.records = append(w.records, r); return nil }
	if set != nil {
		set(&c)
	}
	w.Report, w.err = Run(ctx, c, w.watch)
	stop()
	server.Close()
	net.Close()
	w.dials = net.dials
}

// near compares a figure in ms.
func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if d := got - want; d > 1e-6*want+1e-9 || d < -1e-6*want-1e-9 {
		t.Errorf("%s: %g ms, want %g", name, got, want)
	}
}

// steady answers with n tokens, the first after the wait, the others after the gap.
func steady(wait time.Duration, n int, gap time.Duration) script {
	return func(_ *asked, s *stream) {
		s.role()
		s.tokens(1, wait)
		s.tokens(n-1, gap)
		s.end(8, n)
	}
}

func open(rate float64) []Level {
	return []Level{{Mode: Open, Arrival: workload.Arrival{Process: workload.Constant, Rate: rate}}}
}

// slowConn takes its time for every write.
type slowConn struct {
	net.Conn
	each time.Duration
}

func (c *slowConn) Write(b []byte) (int, error) { time.Sleep(c.each); return c.Conn.Write(b) }

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

func slowDial(dial dialer, each time.Duration) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return &slowConn{c, each}, err
	}
}
