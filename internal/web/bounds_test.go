package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
)

// counted notes the most connections that were open at once.
type counted struct {
	net.Listener
	mu         sync.Mutex
	open, most int
}

type countedConn struct {
	net.Conn
	closed func()
}

func (c *countedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

func (c *counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open++
	c.most = max(c.most, c.open)
	return &countedConn{conn, sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open--
	})}, nil
}

// No more connections are accepted than the limit says, and those that wait are
// answered as others close. All are dialled before the server starts, so that one
// without a limit would take them at a stroke.
func TestConnectionsAreBounded(t *testing.T) {
	const limit, clients = 2, 8
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns := make([]net.Conn, clients)
	for i := range conns {
		if conns[i], err = net.Dial("tcp", l.Addr().String()); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conns[i], "GET /api/v1/gpus HTTP/1.1\r\nHost: %s\r\n\r\n", l.Addr())
	}
	answered := make(chan int)
	for i, c := range conns {
		go func() {
			if a, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || a.StatusCode != http.StatusOK {
				t.Errorf("connection %d: %v %v", i, a, err)
			}
			answered <- i
		}()
	}
	s := New(Options{Limits: Limits{Connections: limit}})
	ctx, stop := context.WithCancel(t.Context())
	over, counting := make(chan error, 1), &counted{Listener: l}
	go func() { over <- s.Serve(ctx, counting) }()
	for range clients { // each holds its place until its answer is here
		conns[<-answered].Close()
	}
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
	if counting.most != limit {
		t.Errorf("%d connections were open at once, %d may be", counting.most, limit)
	}
}

// A watcher beyond the limit is told when to come back, and has a place once
// another leaves.
func TestWatchersAreBounded(t *testing.T) {
	s := New(Options{Limits: Limits{Watchers: 1}})
	defer s.Close()
	if err := s.live.begin(); err != nil {
		t.Fatal(err)
	}
	h := serveOn(t, s)
	first, err := s.live.watch()
	if err != nil {
		t.Fatal(err)
	}
	code, head, body := fetch(t, get(t, h.URL+"/api/v1/runs/live"))
	wantProblem(t, "second watcher", code, body, http.StatusServiceUnavailable, "", "1 watch this evaluation already")
	var p Problem
	if err := json.Unmarshal(body, &p); err != nil || p.Code != codeWatchers || p.Values["most"] != 1.0 || p.Values["seconds"] != 10.0 {
		t.Errorf("%+v, %v", p, err)
	}
	if got := head.Get("Retry-After"); got != "10" {
		t.Errorf("Retry-After %q", got)
	}
	s.live.leave(first)
	a, err := h.Client().Do(get(t, h.URL+"/api/v1/runs/live"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		t.Errorf("after one left: %d", a.StatusCode)
	}
	s.live.end()
	if name, _ := event(t, bufio.NewReader(a.Body)); name != "end" {
		t.Errorf("event %q", name)
	}
}
