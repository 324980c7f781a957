package web

import (
	"context"
	"io"
	"net"
	"testing"
	"time"
)

// A stop waits for nobody who asks nothing: neither for connections that browsers
// open ahead nor for half a request; and it is no failure.
func TestStopWaitsForNoUnusedConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	s := New(Options{})
	go func() { over <- s.Serve(ctx, l) }()
	for _, text := range []string{"", "GET / HT"} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
	}
	fetch(t, get(t, "http://"+l.Addr().String()+"/")) // both were accepted before this one
	began := time.Now()
	stop()
	if err := <-over; err != nil || time.Since(began) > stopTime/2 {
		t.Errorf("stopped after %v: %v", time.Since(began), err)
	}
}
