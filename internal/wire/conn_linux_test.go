package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// pair is a connection of this package and the one at its other end.
func pair(t *testing.T) (ours *conn, theirs *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ours, ok := Conn(c).(*conn)
	if !ok {
		t.Fatal("a TCP connection was not taken over")
	}
	t.Cleanup(func() { ours.Close(); other.Close() })
	return ours, other.(*net.TCPConn)
}

// A megabyte goes both ways at once through buffers that are smaller.
func TestBothWays(t *testing.T) {
	ours, theirs := pair(t)
	want := bytes.Repeat([]byte("line\nand\r\n\r\nmore\n\n"), 60000)
	var wait sync.WaitGroup
	wait.Go(func() { io.Copy(theirs, theirs); theirs.CloseWrite() })
	wait.Go(func() {
		for b := want; len(b) > 0; { // in pieces, so that the echo may end
			n, err := ours.Write(b[:min(len(b), 70000)])
			if err != nil {
				t.Error(err)
				return
			}
			b = b[n:]
		}
	})
	got := make([]byte, len(want))
	if _, err := io.ReadFull(ours, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, or other bytes came than were sent", err)
	}
	theirs.CloseRead()
	theirs.Close()
	wait.Wait()
	if n, err := ours.Read(got); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d, %v", n, err)
	}
}

func TestDeadlinesAndClose(t *testing.T) {
	ours, _ := pair(t)
	b := make([]byte, 8)
	ours.SetReadDeadline(time.Now().Add(time.Millisecond))
	if _, err := ours.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("past the deadline: %v", err)
	}
	ours.SetReadDeadline(time.Time{})
	done := make(chan error, 3)
	for range 2 {
		go func() { _, err := ours.Read(b[:1]); done <- err }()
	}
	go func() { _, err := ours.Write(make([]byte, 64<<20)); done <- err }() // nobody reads
	time.Sleep(10 * time.Millisecond)                                       // likely they wait by now; if not, they find it closed
	ours.Close()
	for range 3 {
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Errorf("of a connection that was closed: %v", err)
		}
	}
	if err := ours.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed again: %v", err)
	}
}

// head reads up to the blank line.
func head(t *testing.T, c *conn) {
	t.Helper()
	b := make([]byte, 100)
	for !c.lines.ended {
		if _, err := c.Read(b); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever way the last bytes and the end come, together or apart, the sink has every byte,
// and Read tells the end.
func TestTakeToTheEnd(t *testing.T) {
	for name, end := range map[string]func(*net.TCPConn){
		"closed": func(c *net.TCPConn) { c.Close() },
		"reset":  func(c *net.TCPConn) { time.Sleep(time.Millisecond); c.SetLinger(0); c.Close() },
	} {
		for range 50 {
			ours, theirs := pair(t)
			theirs.Write([]byte("head\r\n\r\nfirst "))
			head(t, ours)
			var got []byte
			over, ok := ours.Take(func(b []byte, _, at time.Time) ([]byte, bool) {
				if at.IsZero() || time.Since(at) < 0 {
					t.Error("a wrong time")
				}
				got = append(got, b...)
				return nil, false
			})
			if !ok {
				t.Fatal("refused after a head")
			}
			theirs.Write([]byte("last"))
			end(theirs)
			<-over
			if string(got) != "first last" {
				t.Fatalf("%s: %q came", name, got)
			}
			if n, err := ours.Read(make([]byte, 9)); n != 0 || err == nil || name == "closed" && err != io.EOF {
				t.Fatalf("%s: %d, %v", name, n, err)
			}
			ours.Close()
		}
	}
}

// What the sink leaves is read; it is refused where somebody may hold bytes of it.
func TestTakeLeavesTheRest(t *testing.T) {
	ours, theirs := pair(t)
	theirs.Write([]byte("no head yet"))
	b := make([]byte, 100)
	ours.Read(b)
	if _, ok := ours.Take(nil); ok {
		t.Error("taken within a line")
	}
	theirs.Write([]byte("\n\n"))
	head(t, ours)
	over, ok := ours.Take(func(b []byte, _, _ time.Time) ([]byte, bool) {
		i := bytes.IndexByte(b, '!')
		return b[i+1:], i >= 0
	})
	if !ok {
		t.Fatal("refused")
	}
	theirs.Write([]byte("mine!"))
	<-over
	theirs.Write([]byte("yours"))
	if n, err := ours.Read(b); err != nil || string(b[:n]) != "yours" {
		t.Errorf("%q, %v", b[:n], err)
	}
}

// A release or a close from outside ends the sink's calls.
func TestReleaseWhileBytesFlow(t *testing.T) {
	for _, end := range []func(*conn){(*conn).Release, func(c *conn) { c.Close() }} {
		ours, theirs := pair(t)
		theirs.Write([]byte("\n\n"))
		head(t, ours)
		calls := 0 // the detector of races watches it
		over, ok := ours.Take(func(b []byte, _, _ time.Time) ([]byte, bool) { calls++; return nil, false })
		if !ok {
			t.Fatal("refused")
		}
		go func() {
			for {
				if _, err := theirs.Write([]byte("x")); err != nil {
					return
				}
			}
		}()
		time.Sleep(time.Millisecond)
		end(ours)
		<-over
		calls = 0
		ours.Close()
	}
}
