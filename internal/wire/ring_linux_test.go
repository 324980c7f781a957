package wire

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// rings skips a test where the system has none.
func rings(t *testing.T, reads int) *ring {
	t.Helper()
	r, err := newRing(reads)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(r.close)
	return r
}

// One call tells of each socket what a read of its own would: bytes with their stamp, nothing yet, the end, an error.
func TestRing(t *testing.T) {
	r := rings(t, 8)
	stamping(t)
	var fds []int
	var servers []*net.TCPConn
	for range 3 {
		ours, theirs := pair(t)
		fds, servers = append(fds, ours.fd), append(servers, theirs)
	}
	fds = append(fds, -1)
	one := &reader{piece: piece{buf: make([]byte, 8)}}
	for round := range 20 { // more reads than entries, so that the queues go round
		pieces := make([]*piece, len(fds))
		for i := range pieces {
			pieces[i] = &piece{buf: make([]byte, 8)}
			pieces[i].into(pieces[i].buf)
		}
		before := time.Now()
		servers[0].Write([]byte("some text"))
		if round == 0 {
			servers[2].Close()
		}
		time.Sleep(time.Millisecond)
		if err := r.receive(fds, pieces); err != nil {
			t.Fatal(err)
		}
		if p := pieces[0]; p.n != 8 || p.err != nil || string(p.buf) != "some tex" || time.Unix(0, p.stamp).Before(before.Add(-jitter)) || time.Unix(0, p.stamp).After(time.Now()) {
			t.Errorf("%d bytes %q at %v, %v", p.n, p.buf, p.stamp, p.err)
		}
		if p := pieces[1]; p.n != 0 || p.err != unix.EAGAIN {
			t.Errorf("of an empty socket: %d bytes, %v", p.n, p.err)
		}
		if p := pieces[2]; p.n != 0 || p.err != nil {
			t.Errorf("of an ended one: %d bytes, %v", p.n, p.err)
		}
		if p := pieces[3]; p.err != unix.EBADF {
			t.Errorf("of none: %v", p.err)
		}
		if p := one.receive(fds[0], one.buf); p.n != 1 || p.buf[0] != 't' {
			t.Errorf("left: %d bytes %q", p.n, p.buf)
		}
	}
}

// Many streams at once lose nothing, whichever of them end or are taken back meanwhile.
func TestManyAtOnce(t *testing.T) {
	const streams, pieces = 200, 50
	var bytes atomic.Int64
	var servers []*net.TCPConn
	var all []*conn
	for range streams {
		ours, theirs := taken(t, func(b []byte, _, _ time.Time) ([]byte, bool) { bytes.Add(int64(len(b))); return nil, false })
		servers, all = append(servers, theirs), append(all, ours)
	}
	back := make(chan int64)
	go func() { // a half is taken back while the loop reads
		var read int64
		for _, c := range all[:streams/2] {
			c.Release()
			n, _ := io.Copy(io.Discard, c)
			read += n
		}
		back <- read
	}()
	for range pieces {
		for _, s := range servers {
			s.Write([]byte("0123456789"))
		}
	}
	for _, s := range servers {
		s.Close()
	}
	read := <-back
	const want = streams * pieces * 10
	for end := time.Now().Add(10 * time.Second); bytes.Load()+read < want && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if got := bytes.Load() + read; got != want {
		t.Errorf("%d bytes of %d", got, want)
	}
}
