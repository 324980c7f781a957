package wire

import (
	"bytes"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// taken is a connection after its head, whose bytes go to sink.
func taken(t *testing.T, sink Sink) (ours *conn, theirs *net.TCPConn) {
	t.Helper()
	ours, theirs = pair(t)
	theirs.Write([]byte("\n\n"))
	head(t, ours)
	if _, ok := ours.Take(sink); !ok {
		t.Fatal("refused")
	}
	return ours, theirs
}

// flood is a connection on which more comes than is consumed, without an end.
func flood(t *testing.T, pieces *atomic.Int64) *conn {
	t.Helper()
	fast, server := taken(t, func(_ []byte, _, _ time.Time) ([]byte, bool) {
		pieces.Add(1)
		time.Sleep(100 * time.Microsecond) // slower than what sends
		return nil, false
	})
	go func() {
		for b := make([]byte, 1<<20); ; {
			if _, err := server.Write(b); err != nil {
				return
			}
		}
	}()
	for pieces.Load() < 10 {
		time.Sleep(time.Millisecond)
	}
	return fast
}

// Beside a stream without an end another has its turn after one piece of it, and whoever ends
// the fast one waits no longer.
func TestOthersBesideAFlood(t *testing.T) {
	var pieces atomic.Int64
	arrived := make(chan int64, 1)
	_, theirs := taken(t, func(_ []byte, _, _ time.Time) ([]byte, bool) { arrived <- pieces.Load(); return nil, false })
	fast := flood(t, &pieces)
	var waited []int64
	for range 51 {
		before := pieces.Load()
		theirs.Write([]byte("x"))
		waited = append(waited, <-arrived-before)
	}
	slices.Sort(waited)
	// Two: the one under way, and one that was read before the byte was sent. The rest is for
	// processors that others use.
	if median := waited[len(waited)/2]; median > 4 {
		t.Errorf("a byte waited for %d pieces of a fast stream (median), at most %d", median, waited[len(waited)-1])
	}
	before := pieces.Load()
	fast.Release()
	if after := pieces.Load(); after-before > 50 {
		t.Errorf("the release waited for %d pieces", after-before)
	}
	if n, err := fast.Read(make([]byte, 10)); n == 0 || err != nil {
		t.Errorf("after the release: %d, %v", n, err)
	}
}

func TestCloseOfAFlood(t *testing.T) {
	var pieces atomic.Int64
	fast := flood(t, &pieces)
	before := pieces.Load()
	fast.Close()
	if after := pieces.Load(); after-before > 50 {
		t.Errorf("it waited for %d pieces", after-before)
	}
}

// Much that came before Take, and the end with it, is told by no edge and comes nevertheless.
func TestTakeOfMuchThatCame(t *testing.T) {
	for range 20 {
		ours, theirs := pair(t)
		theirs.Write([]byte("\n\n"))
		head(t, ours)
		want := bytes.Repeat([]byte("0123456789"), 20_000)
		sent := make(chan struct{})
		go func() { theirs.Write(want); theirs.Close(); close(sent) }()
		<-sent // in the buffers of the system, where there is room
		var got []byte
		over, ok := ours.Take(func(b []byte, _, _ time.Time) ([]byte, bool) { got = append(got, b...); return nil, false })
		if !ok {
			t.Fatal("refused")
		}
		<-over
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes of %d", len(got), len(want))
		}
		if _, err := ours.Read(make([]byte, 1)); err != io.EOF {
			t.Fatal(err)
		}
		ours.Close()
	}
}

// What came while the bytes of another were consumed is late by that, though each was told alone.
func TestLongTurnsAreNoted(t *testing.T) {
	const busy = 50 * time.Millisecond
	for _, stamps := range []bool{true, false} {
		enter, leave := make(chan struct{}), make(chan struct{})
		ours, slow := taken(t, func(_ []byte, _, _ time.Time) ([]byte, bool) {
			enter <- struct{}{}
			time.Sleep(busy)
			<-leave
			return nil, false
		})
		came := make(chan struct{})
		beside, other := taken(t, func(_ []byte, _, _ time.Time) ([]byte, bool) { came <- struct{}{}; return nil, false })
		if !stamps {
			unstamped(t, ours)
			unstamped(t, beside)
		}
		for range 2 { // the turn that takes the first byte may still be under way
			other.Write([]byte("x"))
			<-came
		}
		slow.Write([]byte("x"))
		<-enter
		other.Write([]byte("x"))
		Lateness()
		leave <- struct{}{}
		<-came
		other.Write([]byte("x")) // the turn before is noted once this one is served
		<-came
		if consumed, stamped, own := Lateness(); consumed < busy || !stamps && (stamped < busy || !own) {
			t.Errorf("stamps %v: bytes that waited %v: %v noted, and %v of their times", stamps, busy, consumed, stamped)
		}
	}
}
