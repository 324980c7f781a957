package wire

import (
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Conn takes over c, where it is a plain TCP connection, and gives a [Taker]; any other is
// given back as it is.
func Conn(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return c
	}
	fd := -1
	// A second descriptor of the same socket, which Go's poller does not watch: it would
	// wake for every piece as well.
	if raw.Control(func(of uintptr) { fd, err = unix.FcntlInt(of, unix.F_DUPFD_CLOEXEC, 0) }) != nil || err != nil {
		return c
	}
	// Refused by no Linux; where it were, reads bring no stamps and are stamped after them.
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	w := &conn{fd: fd, last: time.Now(), local: c.LocalAddr(), remote: c.RemoteAddr(), readable: make(chan struct{}, 1), writable: make(chan struct{}, 1)}
	if w.loop, err = join(w); err != nil {
		unix.Close(fd)
		return c
	}
	c.Close() // its descriptor; the socket lives on
	return w
}

type conn struct {
	loop          *loop
	number        int32 // of the loop's connections
	local, remote net.Addr
	// One token each: something may have changed since the last try.
	readable, writable chan struct{}

	mu     sync.Mutex // of the descriptor, too: it is never used after its end
	fd     int
	closed bool
	read   bounded
	write  bounded
	full   bool   // a writer waits for room
	ends   bool   // the other side is through, or the connection is broken
	held   []byte // came and not given yet
	heldAt time.Time
	last   time.Time // of the last piece that came
	came   time.Time // of what Read gave last
	wrote  time.Time
	broken error // of the socket, which tells it once
	lines  blank
	sink   Sink
	over   chan struct{}

	// The loop's goroutine alone uses it: since when the connection waits for its next turn.
	queued time.Time
}

// failed is the error of a call.
func (c *conn) failed(op string, err error) error {
	if errno, ok := err.(unix.Errno); ok {
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Close ends the connection and every call on it.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.failed("close", net.ErrClosed)
	}
	c.closed = true
	c.release()
	c.loop.leave(c)
	wake(c.readable)
	wake(c.writable)
	if err := unix.Close(c.fd); err != nil {
		return c.failed("close", err)
	}
	return nil
}

// arrived is the time of a piece that was read just now, and since when its first bytes may have come: the
// given time, zero where nobody knows, or that of the piece before. Where the system does not tell, at is the time
// after the read.
func (c *conn) arrived(r *reader, stamp int64, came time.Time) (since, at time.Time) {
	at, told := r.clock.at(stamp, c.last)
	if !told {
		at = time.Now()
	}
	if since = came; since.IsZero() || since.After(at) {
		since = at
	} else if c.last.After(since) {
		since = c.last
	}
	r.told = r.told && told
	r.between.add(at.Sub(c.last))
	c.last = at
	if told {
		r.note(at)
		return since, at
	}
	r.note(since)
	Doubt(at.Sub(since))
	return since, at
}

// Came implements [Taker].
func (c *conn) Came() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.came
}

// Wrote implements [Taker].
func (c *conn) Wrote() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrote
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }
