package wire

import (
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// Take implements [Taker].
func (c *conn) Take(sink Sink) (<-chan struct{}, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.sink != nil || c.broken != nil || !c.lines.ended {
		return nil, false
	}
	over := make(chan struct{})
	c.sink, c.over = sink, over
	if held := c.held; len(held) > 0 { // it came with the head
		c.held = nil
		c.give(held, c.heldAt)
	}
	// What came since is told by no edge any more.
	var buf [4 << 10]byte
	const reads = 4
	for range reads {
		if more, _ := c.pass(buf[:], true); !more {
			return over, true
		}
	}
	c.loop.again(c)
	return over, true
}

// Release implements [Taker].
func (c *conn) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release()
}

func (c *conn) release() {
	if c.sink == nil {
		return
	}
	c.sink = nil
	c.lines = blank{}
	close(c.over)
	wake(c.readable)
}

// happened is called by the loop, and tells whether the connection has to be read.
func (c *conn) happened(events uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	const end = unix.EPOLLERR | unix.EPOLLHUP
	if c.full && events&(unix.EPOLLOUT|end) != 0 {
		c.full = false
		wake(c.writable)
	}
	c.ends = c.ends || events&(unix.EPOLLRDHUP|end) != 0
	if c.sink == nil {
		wake(c.readable)
	}
	return c.sink != nil
}

// turn is one read by the loop, with its time where it brought something. It holds the lock for no longer: whoever ends the connection
// or takes it back waits for one read and what its bytes cost.
func (c *conn) turn(buf []byte) (more bool, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pass(buf, c.ends)
}

// pass reads once, for the sink; more tells that there may be more. A read that brings less
// than there is room for has emptied the socket (epoll(7), question 9), and what comes later
// raises another edge; only the end may have come in one edge with the last bytes.
func (c *conn) pass(buf []byte, toTheEnd bool) (more bool, at time.Time) {
	if c.sink == nil || c.closed {
		return false, at
	}
	n, err := receive(c.fd, buf)
	at = time.Now()
	switch {
	case err == unix.EAGAIN:
		return false, time.Time{}
	case err != nil:
		c.broken = c.failed("read", err)
		c.release()
	case n == 0:
		c.broken = io.EOF
		c.release()
	default:
		c.give(buf[:n], at)
	}
	return c.sink != nil && (n == len(buf) || toTheEnd), at
}

func (c *conn) give(b []byte, at time.Time) {
	rest, over := c.sink(b, at)
	if over {
		c.held, c.heldAt = append(c.held[:0], rest...), at
		c.release()
	}
}
