package wire

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

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
	if left, err = c.usable("read", c.read, c.readable); err != nil || c.sink != nil {
		return 0, left, err // the sink's end wakes
	}
	if len(c.held) == 0 {
		if c.broken != nil {
			return 0, 0, c.broken
		}
		r := readers.Get().(*reader)
		defer readers.Put(r)
		r.begin()
		defer r.end()
		p := r.receive(c.fd, b)
		ordered(c.fd)
		switch {
		case p.err == unix.EAGAIN:
			return 0, left, nil
		case p.err != nil:
			return 0, 0, c.failed("read", p.err)
		case p.n == 0:
			return 0, 0, io.EOF
		}
		_, at := c.arrived(r, p.stamp, time.Time{})
		cut := c.lines.cut(b[:p.n])
		if cut < p.n {
			c.held, c.heldAt = append(c.held[:0], b[cut:p.n]...), at
		}
		c.came = at
		return cut, 0, nil
	}
	c.came = c.heldAt
	n = copy(b, c.held[:c.lines.cut(c.held[:min(len(b), len(c.held))])])
	c.held = c.held[n:]
	return n, 0, nil
}

// usable is the time left of a call before it tries, or why it may not.
func (c *conn) usable(op string, until bounded, token chan<- struct{}) (left time.Duration, err error) {
	left, ok := until.left()
	switch {
	case c.closed:
		wake(token) // for another that waits
		return 0, c.failed(op, net.ErrClosed)
	case !ok:
		return 0, c.failed(op, os.ErrDeadlineExceeded)
	}
	return left, nil
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
	if left, err = c.usable("write", c.write, c.writable); err != nil {
		return 0, 0, err
	}
	at := time.Now()
	switch n, err = syscall.Write(c.fd, b); err {
	case nil:
		c.wrote = at
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
