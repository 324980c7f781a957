package wire

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// unstamped has the system not stamp what comes on a connection, as one that cannot.
func unstamped(t *testing.T, c *conn) {
	t.Helper()
	if err := unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 0); err != nil {
		t.Fatal(err)
	}
}

// stamping waits until the system stamps: it begins some time after the first connection asks.
func stamping(t *testing.T) {
	t.Helper()
	ours, theirs := pair(t)
	for range 1000 {
		theirs.Write([]byte("x"))
		time.Sleep(time.Millisecond)
		r := readers.New().(*reader)
		if p := r.receive(ours.fd, r.buf); p.err == nil && p.stamp != 0 {
			return
		}
	}
	t.Skip("this system does not stamp")
}

// handed is what a sink got.
type handed struct {
	text string
	at   time.Time
}

// Bytes have the time at which they came, however much later they are read.
func TestStampsUnderAStalledConsumer(t *testing.T) {
	stamping(t)
	const stall = 30 * time.Millisecond
	hold, held := make(chan struct{}), make(chan struct{})
	_, stalls := taken(t, func(_ []byte, _, _ time.Time) ([]byte, bool) { held <- struct{}{}; <-hold; return nil, false })
	got := make(chan handed, 1)
	_, theirs := taken(t, func(b []byte, _, at time.Time) ([]byte, bool) { got <- handed{string(b), at}; return nil, false })
	stalls.Write([]byte("x"))
	<-held // every other connection waits now
	before := time.Now()
	theirs.Write([]byte("a"))
	after := time.Now()
	time.Sleep(stall)
	hold <- struct{}{}
	if p := <-got; p.at.Before(before.Add(-jitter)) || p.at.After(after.Add(jitter)) {
		t.Errorf("%v after it was sent, and %v after it had come", p.at.Sub(before), p.at.Sub(after))
	}
}

// Read and Write tell when the bytes came and went: an answer never before its question.
func TestCameAndWrote(t *testing.T) {
	stamping(t)
	ours, theirs := pair(t)
	b := make([]byte, 10)
	for range 100 {
		before := time.Now()
		ours.Write([]byte("question"))
		if _, err := theirs.Read(b); err != nil {
			t.Fatal(err)
		}
		theirs.Write([]byte("answer"))
		answered := time.Now()
		time.Sleep(100 * time.Microsecond)
		if _, err := ours.Read(b); err != nil {
			t.Fatal(err)
		}
		if wrote, came := ours.Wrote(), ours.Came(); wrote.Before(before) || came.Before(wrote.Add(-jitter)) || came.After(answered.Add(jitter)) {
			t.Errorf("from %v: written at %v, answered at %v, came at %v", before, wrote, answered, came)
		}
	}
}

// Where the system stamps nothing, or the wall clock was set meanwhile, the time is that after the read.
func TestWithoutStamps(t *testing.T) {
	for name, spoil := range map[string]func(*conn){
		"none":                func(c *conn) { unstamped(t, c) },
		"the clock went on":   func(*conn) { setWall(time.Hour) },
		"the clock went back": func(*conn) { setWall(-time.Hour) },
		"a little":            func(*conn) { setWall(10 * time.Millisecond) },
	} {
		got := make(chan handed, 1)
		ours, theirs := taken(t, func(b []byte, _, at time.Time) ([]byte, bool) { got <- handed{string(b), at}; return nil, false })
		spoil(ours)
		for range 3 {
			before := time.Now()
			theirs.Write([]byte("a"))
			p := <-got
			if now := time.Now(); p.at.Before(before) || p.at.After(now) {
				t.Errorf("%s: %v after it was sent, %v before now", name, p.at.Sub(before), now.Sub(p.at))
			}
		}
		ours.Close()
	}
	wall.mu.Lock()
	wall.set = time.Time{}
	wall.mu.Unlock()
}

// setWall makes the wall clock look as if it had been set since it was read last.
func setWall(d time.Duration) {
	wall.mu.Lock()
	defer wall.mu.Unlock()
	wall.last = read()
	wall.last.wall -= int64(d)
}

// Stamps that cannot be right are not believed.
func TestStampsThatCannotBe(t *testing.T) {
	k := clock{reading: read(), trusted: true}
	last := k.now.Add(-time.Second)
	stamp := func(d time.Duration) int64 { return k.wall + int64(d) }
	for _, c := range []struct {
		name string
		at   int64
		want time.Duration // to the reading
		ok   bool
	}{
		{"half a second ago", stamp(-time.Second / 2), -time.Second / 2, true},
		{"just before the last", stamp(-time.Second - jitter/2), -time.Second, true},
		{"long before the last", stamp(-2 * time.Second), 0, false},
		{"to come", stamp(time.Hour), 0, false},
		{"none", 0, 0, false},
	} {
		if at, ok := k.at(c.at, last); ok != c.ok || ok && at.Sub(k.now) != c.want {
			t.Errorf("%s: %v, %v", c.name, at.Sub(k.now), ok)
		}
	}
	since := k.now
	for r := read(); r.now.Sub(since) < jitter; r = read() {
		k.reading = r
	}
	k.reading = reading{since, k.wall - int64(k.now.Sub(since))} // a moment ago
	if at, ok := k.at(k.wall+int64(jitter), last); !ok || at.Sub(since) != jitter {
		t.Errorf("since the reading: %v, %v", at.Sub(since), ok)
	}
}
