package wire

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
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
	w := &conn{fd: fd, local: c.LocalAddr(), remote: c.RemoteAddr(), readable: make(chan struct{}, 1), writable: make(chan struct{}, 1)}
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
	held   []byte // came and not given yet
	heldAt time.Time
	broken error // of the socket, which tells it once
	lines  blank
	sink   Sink
	over   chan struct{}
}

// bounded is a deadline.
type bounded struct{ deadline time.Time }

// left is the time until the deadline; ok is false where it is over.
func (b bounded) left() (d time.Duration, ok bool) {
	if b.deadline.IsZero() {
		return 0, true
	}
	d = time.Until(b.deadline)
	return d, d > 0
}

// failed is the error of a call.
func (c *conn) failed(op string, err error) error {
	if errno, ok := err.(unix.Errno); ok {
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// until waits for a token, at most for d where it is not 0.
func until(token <-chan struct{}, d time.Duration) {
	if d == 0 {
		<-token
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-token:
	case <-t.C:
	}
}

// wake puts a token.
func wake(token chan<- struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

// Read gives what came, no further than to the end of a blank line.
func (c *conn) Read(b []byte) (int, error) {
	for len(b) > 0 {
		n, left, err := c.tryRead(b)
		if n > 0 || err != nil {
			return n, err
		}
		until(c.readable, left)
	}
	return 0, nil
}

func (c *conn) tryRead(b []byte) (n int, left time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left, ok := c.read.left()
	switch {
	case c.closed:
		wake(c.readable) // for another that waits
		return 0, 0, c.failed("read", net.ErrClosed)
	case !ok:
		return 0, 0, c.failed("read", os.ErrDeadlineExceeded)
	case c.sink != nil:
		return 0, left, nil // its end wakes
	}
	if len(c.held) == 0 {
		if c.broken != nil {
			return 0, 0, c.broken
		}
		n, err := receive(c.fd, b)
		at := time.Now()
		switch {
		case err == unix.EAGAIN:
			return 0, left, nil
		case err != nil:
			return 0, 0, c.failed("read", err)
		case n == 0:
			return 0, 0, io.EOF
		}
		cut := c.lines.cut(b[:n])
		if cut < n {
			c.held, c.heldAt = append(c.held[:0], b[cut:n]...), at
		}
		return cut, 0, nil
	}
	n = copy(b, c.held[:c.lines.cut(c.held[:min(len(b), len(c.held))])])
	c.held = c.held[n:]
	return n, 0, nil
}

// receive reads from a socket that does not block.
func receive(fd int, b []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, b)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// Write sends all of b, as [net.Conn] says.
func (c *conn) Write(b []byte) (sent int, err error) {
	for sent < len(b) {
		n, left, err := c.tryWrite(b[sent:])
		if err != nil {
			return sent, err
		}
		if sent += n; n == 0 {
			until(c.writable, left)
		}
	}
	return sent, nil
}

func (c *conn) tryWrite(b []byte) (n int, left time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left, ok := c.write.left()
	switch {
	case c.closed:
		wake(c.writable)
		return 0, 0, c.failed("write", net.ErrClosed)
	case !ok:
		return 0, 0, c.failed("write", os.ErrDeadlineExceeded)
	}
	switch n, err = syscall.Write(c.fd, b); err {
	case nil:
		return n, left, nil
	case unix.EINTR:
		wake(c.writable)
		return 0, left, nil
	case unix.EAGAIN:
		c.full = true
		return 0, left, nil
	}
	return 0, 0, c.failed("write", err)
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

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error {
	return c.bound(func() { c.read.deadline, c.write.deadline = t, t })
}
func (c *conn) SetReadDeadline(t time.Time) error {
	return c.bound(func() { c.read.deadline = t })
}
func (c *conn) SetWriteDeadline(t time.Time) error {
	return c.bound(func() { c.write.deadline = t })
}

func (c *conn) bound(set func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.failed("set", net.ErrClosed)
	}
	set()
	wake(c.readable)
	wake(c.writable)
	return nil
}
