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
	r := readers.Get().(*reader)
	defer readers.Put(r)
	r.begin()
	defer r.end()
	over := make(chan struct{})
	c.sink, c.over = sink, over
	if held := c.held; len(held) > 0 { // it came with the head
		c.held = nil
		r.note(c.heldAt)
		c.give(held, c.heldAt, c.heldAt)
	}
	// What came since is told by no edge any more.
	const reads = 4
	for range reads {
		if !c.pass(r, time.Time{}, true) {
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

// turn is called by the loop where something happened, and reads once. It holds the lock for no
// longer: whoever ends the connection or takes it back waits for one read and what its bytes cost. What
// the read brings may have come at the given time; more tells that there may be more to read.
func (c *conn) turn(r *reader, events uint32, came time.Time) (more bool) {
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
		return false
	}
	return c.queued.IsZero() && c.pass(r, came, c.ends) // else it has its place in the queue
}

// pass reads once, for the sink; more tells that there may be more. A read that brings less
// than there is room for has emptied the socket (epoll(7), question 9), and what comes later
// raises another edge; only the end may have come in one edge with the last bytes.
func (c *conn) pass(r *reader, came time.Time, toTheEnd bool) (more bool) {
	if c.sink == nil || c.closed {
		return false
	}
	n, stamp, err := r.receive(c.fd, r.buf)
	switch {
	case err == unix.EAGAIN:
		return false
	case err != nil:
		c.broken = c.failed("read", err)
		c.release()
	case n == 0:
		c.broken = io.EOF
		c.release()
	default:
		since, at := c.arrived(r, stamp, came)
		c.give(r.buf[:n], since, at)
	}
	return c.sink != nil && (n == len(r.buf) || toTheEnd)
}

func (c *conn) give(b []byte, since, at time.Time) {
	rest, over := c.sink(b, since, at)
	if over {
		c.held, c.heldAt = append(c.held[:0], rest...), at
		c.release()
	}
}
