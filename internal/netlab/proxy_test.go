package netlab

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"
	"time"
)

// echo sends back what comes, and ends when it ends.
func echo(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

func proxy(t testing.TB, target string, l Link) *Proxy {
	t.Helper()
	p, err := Start("127.0.0.1:0", target, l, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func dial(t testing.TB, p *Proxy) *net.TCPConn {
	t.Helper()
	c, err := p.Dial(context.Background(), "tcp", "elsewhere:1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// ping is the shortest of several round trips: a loaded machine lengthens some.
func ping(t testing.TB, c net.Conn, times int) time.Duration {
	t.Helper()
	least := time.Hour
	b := make([]byte, 1)
	for range times {
		start := time.Now()
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, b); err != nil {
			t.Fatal(err)
		}
		least = min(least, time.Since(start))
	}
	return least
}

// Arrivals by hand: delay, the link's own time, order, on a clock that is given.
func TestArrival(t *testing.T) {
	start := time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	w := newWire(Shape{Delay: 10 * time.Millisecond, Rate: 1e6}, 1)
	for i, x := range []struct {
		now   time.Duration
		n     int
		ahead time.Time
		want  time.Duration
	}{
		{0, 1000, time.Time{}, 11 * time.Millisecond},
		{0, 1000, time.Time{}, 12 * time.Millisecond}, // the link is taken for 1 ms
		{5 * time.Millisecond, 500, time.Time{}, 15500 * time.Microsecond},
		{6 * time.Millisecond, 0, at(30 * time.Millisecond), 30 * time.Millisecond}, // not before what is ahead
	} {
		if got := w.arrival(at(x.now), x.n, x.ahead).Sub(start); got != x.want {
			t.Errorf("%d: arrives after %v, want %v", i, got, x.want)
		}
	}
	w = newWire(Shape{Delay: 10 * time.Millisecond, Jitter: 4 * time.Millisecond}, 1)
	low, high, sum := time.Hour, time.Duration(0), 0.0
	const n = 10000
	for range n {
		d := w.arrival(start, 1, time.Time{}).Sub(start)
		low, high, sum = min(low, d), max(high, d), sum+d.Seconds()
	}
	if low < 6*time.Millisecond || high > 14*time.Millisecond || math.Abs(sum/n-10e-3) > 1e-4 {
		t.Errorf("delays from %v to %v, mean %g s", low, high, sum/n)
	}
}

// A round trip takes both delays, and hardly more; without any it takes hardly
// anything.
func TestDelay(t *testing.T) {
	target := echo(t)
	c := dial(t, proxy(t, target, Link{}))
	bare := ping(t, c, 50)
	link := Link{Up: Shape{Delay: 3 * time.Millisecond}, Down: Shape{Delay: 5 * time.Millisecond}}
	start := time.Now()
	c = dial(t, proxy(t, target, link))
	if first := ping(t, c, 1); time.Since(start) < 2*8*time.Millisecond {
		t.Errorf("a new connection answered after %v: the handshake takes a round trip too", first)
	}
	got := ping(t, c, 50)
	if got < 8*time.Millisecond || got > 12*time.Millisecond+2*bare {
		t.Errorf("the shortest round trip took %v, want 8 ms (%v without a delay)", got, bare)
	}
}

// Bytes come as they were sent, whatever jitter and rate, and no faster than the
// rate allows; the end comes after them.
func TestBytesKeepOrder(t *testing.T) {
	const rate = 20e6
	p := proxy(t, echo(t), Both(Shape{Delay: 2 * time.Millisecond, Jitter: 2 * time.Millisecond, Rate: rate}))
	c := dial(t, p)
	sent := make([]byte, 2<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range sent {
		sent[i] = byte(rng.Uint32())
	}
	start := time.Now()
	go func() {
		for rest := sent; len(rest) > 0; {
			n := min(1+rng.IntN(100_000), len(rest))
			if _, err := c.Write(rest[:n]); err != nil {
				return
			}
			rest = rest[n:]
		}
		c.CloseWrite()
	}()
	got, err := io.ReadAll(c)
	took := time.Since(start)
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d of %d bytes came back, %v", len(got), len(sent), err)
	}
	if least := time.Duration(float64(len(sent)) / rate * float64(time.Second)); took < least {
		t.Errorf("%v for %d bytes, the rate asks for %v", took, len(sent), least)
	}
	if s := p.Stats(); s.Up != int64(len(sent)) || s.Down != int64(len(sent)) || s.Connections != 1 || s.Refused != 0 {
		t.Errorf("stats %+v", s)
	}
}

// Two connections share the rate.
func TestRateIsShared(t *testing.T) {
	const rate, n = 10e6, 500_000
	p := proxy(t, echo(t), Link{Up: Shape{Rate: rate}})
	start := time.Now()
	done := make(chan error, 2)
	for range 2 {
		c := dial(t, p)
		go func() {
			if _, err := c.Write(make([]byte, n)); err != nil {
				done <- err
				return
			}
			_, err := io.ReadFull(c, make([]byte, n))
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took < 2*n*time.Second/rate {
		t.Errorf("twice %d bytes took %v", n, took)
	}
}

// A reset on the far side is one on this side, and a target that is not there
// refuses.
func TestResetsPass(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := proxy(t, l.Addr().String(), Both(Shape{Delay: time.Millisecond}))
	c := dial(t, p)
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := far.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	far.Close()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client sees %v", err)
	}
	l.Close()
	c = dial(t, p)
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a target that is not there answered")
	}
	if s := p.Stats(); s.Refused != 1 {
		t.Errorf("stats %+v", s)
	}
}

func TestLinkCheck(t *testing.T) {
	for _, l := range []Link{Both(Shape{Delay: -1}), {Up: Shape{Jitter: 1}}, {Down: Shape{Rate: math.NaN()}}, {Down: Shape{Rate: -1}}} {
		if _, err := Start("127.0.0.1:0", "127.0.0.1:1", l, 1); err == nil {
			t.Errorf("%+v was taken", l)
		}
	}
}
