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
		if c.sink == nil || !c.pass(r, r.receive(c.fd, r.buf), time.Time{}, true) {
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

// turn is called by the loop where something happened. Where it tells that the connection is to be read it holds
// the lock: whoever ends the connection or takes it back waits for the reads of one turn of the
// loop and what their bytes cost.
func (c *conn) turn(events uint32) (reads bool) {
	c.mu.Lock()
	const end = unix.EPOLLERR | unix.EPOLLHUP
	if c.full && events&(unix.EPOLLOUT|end) != 0 {
		c.full = false
		wake(c.writable)
	}
	c.ends = c.ends || events&(unix.EPOLLRDHUP|end) != 0
	if c.sink == nil {
		wake(c.readable)
	}
	// Else it has its place in the queue.
	if reads = c.sink != nil && !c.closed && c.queued.IsZero(); !reads {
		c.mu.Unlock()
	}
	return reads
}

// pass hands what a read brought to the sink; more tells that there may be more. A read that brings less
// than there is room for has emptied the socket (epoll(7), question 9), and what comes later
// raises another edge; only the end may have come in one edge with the last bytes.
func (c *conn) pass(r *reader, p *piece, came time.Time, toTheEnd bool) (more bool) {
	ordered(c.fd)
	switch {
	case p.err == unix.EAGAIN:
		return false
	case p.err != nil:
		c.broken = c.failed("read", p.err)
		c.release()
	case p.n == 0:
		c.broken = io.EOF
		c.release()
	default:
		since, at := c.arrived(r, p.stamp, came)
		c.give(p.buf[:p.n], since, at)
	}
	return c.sink != nil && (p.n == len(p.buf) || toTheEnd)
}

func (c *conn) give(b []byte, since, at time.Time) {
	rest, over := c.sink(b, since, at)
	if over {
		c.held, c.heldAt = append(c.held[:0], rest...), at
		c.release()
	}
}
