package probe

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/record"
)

func tcpServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ServeTCP(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func TestTCPProbe(t *testing.T) {
	var rec record.Record
	p := TCP{To: tcpServer(t), Streams: 2, Repeats: 2, Time: 20 * time.Millisecond, Pings: 20}
	if err := p.Run(t.Context(), &rec); err != nil {
		t.Fatal(err)
	}
	if len(rec.Results) != 3 || rec.Check("tcp") != nil {
		t.Fatalf("results %+v", rec.Results)
	}
	trip, send := rec.Results[0], rec.Results[1]
	// A message of 64 bytes cannot come back faster than the link moves it both ways.
	if !(trip.Best > 2*pingBytes/send.Best) {
		t.Errorf("round trip %g s beside %g bytes/s", trip.Best, send.Best)
	}
}

func TestTCPProbeWithoutPeer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody answers there any more
	p := TCP{To: l.Addr().String()}
	if err := p.Run(t.Context(), &record.Record{}); err == nil || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("error %v, want one that names the mend", err)
	}
}

func TestTCPServerRefusesOthers(t *testing.T) {
	c, err := net.Dial("tcp", tcpServer(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Write([]byte("GET / HTTP/1.1\n"))
	buf := make([]byte, 64)
	n, _ := c.Read(buf)
	if !strings.Contains(string(buf[:n]), "unknown request") {
		t.Errorf("answer %q", buf[:n])
	}
}

func TestInterruptedTCPProbe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var rec record.Record
	p := TCP{To: tcpServer(t), Repeats: 1, Time: time.Hour, Pings: 5, Done: func(int, int) { cancel() }}
	if err := p.Run(ctx, &rec); err != nil || !rec.Partial || len(rec.Results) != 1 {
		t.Errorf("error %v, partial %v, %d results: want none, true, 1", err, rec.Partial, len(rec.Results))
	}
}
