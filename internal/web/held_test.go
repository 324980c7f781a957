package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// longAnswer is a schedule of 30,000 passes: megabytes of JSON.
var longAnswer = `{"name":"zb-h1","stages":100,"microbatches":100,"f":"1ms","b":"1ms","w":"1ms"}`

// held waits until the server holds as many bytes as ok says.
func heldUntil(t *testing.T, s *Server, what string, ok func(bytes int64) bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s.held.mu.Lock()
		n := s.held.bytes
		s.held.mu.Unlock()
		if ok(n) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are held, want %s", n, what)
		}
	}
}

// lazy asks for the long answer on a connection of its own that takes little, and does not read it.
func lazy(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	c := asking(t, address)
	if err := c.SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	return c
}

// asking is a connection on which the long answer was asked for.
func asking(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	tcp := c.(*net.TCPConn)
	fmt.Fprintf(tcp, "POST /api/v1/schedule HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", address, len(longAnswer), longAnswer)
	return tcp
}

// running is a server as `ridgeline web` runs it.
func running(t *testing.T, l Limits) (*Server, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Limits: l})
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		<-over // readers that hang make it a late end
	})
	return s, listener.Addr().String()
}

// However many clients ask for long answers and do not read them, what is held stays
// within the limit: those beyond are told when to come back, and are answered once others have read.
func TestSlowReadersAreBounded(t *testing.T) {
	const most = 12 << 20
	s, address := running(t, Limits{Held: most, Patience: time.Minute})
	conns := make([]*net.TCPConn, 12)
	for i := range conns {
		conns[i] = lazy(t, address)
	}
	heads := make(chan *http.Response, len(conns))
	for _, c := range conns {
		go func() {
			a, err := http.ReadResponse(bufio.NewReaderSize(c, 16), nil) // the head alone: the body stays unread
			if err != nil {
				t.Error(err)
			}
			heads <- a
		}()
	}
	served, refused := 0, 0
	for range conns {
		switch a := <-heads; {
		case a == nil:
		case a.StatusCode == http.StatusOK:
			served++
		case a.StatusCode == http.StatusServiceUnavailable && a.Header.Get("Retry-After") == "10":
			refused++
		default:
			t.Errorf("%d %v", a.StatusCode, a.Header)
		}
	}
	if served == 0 || refused == 0 {
		t.Errorf("%d answers are held, %d refused", served, refused)
	}
	heldUntil(t, s, "some, within the limit", func(n int64) bool { return n > 1<<20 && n <= most })
	for _, c := range conns {
		c.Close()
	}
	heldUntil(t, s, "none after they left", func(n int64) bool { return n == 0 })
	if code, _, b := fetch(t, post(t, "http://"+address+"/api/v1/schedule", []byte(longAnswer))); code != 200 || len(b) < 1<<20 {
		t.Errorf("afterwards: %d, %d bytes", code, len(b))
	}
}

// A client that stops reading is cut off; one that reads slowly has its answer whole.
func TestPatience(t *testing.T) {
	s, address := running(t, Limits{Patience: 300 * time.Millisecond})
	lazy(t, address)
	heldUntil(t, s, "the answer", func(n int64) bool { return n > 0 })
	heldUntil(t, s, "none once patience is over", func(n int64) bool { return n == 0 })
	_, address = running(t, Limits{Patience: 10 * time.Second})
	a, err := http.ReadResponse(bufio.NewReader(asking(t, address)), nil)
	if err != nil {
		t.Fatal(err)
	}
	read := int64(0)
	for err == nil {
		var n int64
		n, err = io.CopyN(io.Discard, a.Body, 512<<10)
		read += n
		time.Sleep(20 * time.Millisecond)
	}
	if err != io.EOF || read != a.ContentLength || read < 1<<20 {
		t.Errorf("%d of %d bytes: %v", read, a.ContentLength, err)
	}
}
