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
	var buf [4 << 10]byte
	c.drain(buf[:], true) // what came since is told by no edge any more
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

// happened is called by the loop.
func (c *conn) happened(events uint32, buf []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full && events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
		c.full = false
		wake(c.writable)
	}
	if c.sink == nil {
		wake(c.readable)
		return
	}
	c.drain(buf, events&(unix.EPOLLRDHUP|unix.EPOLLERR|unix.EPOLLHUP) != 0)
}

// drain reads what there is, for the sink. A read that brings less than there is room for has
// emptied the socket (epoll(7), question 9), and what comes later raises another edge; only the
// end may have come in one edge with the last bytes.
func (c *conn) drain(buf []byte, toTheEnd bool) {
	for c.sink != nil && !c.closed {
		n, err := receive(c.fd, buf)
		at := time.Now()
		switch {
		case err == unix.EAGAIN:
			return
		case err != nil:
			c.broken = c.failed("read", err)
			c.release()
		case n == 0:
			c.broken = io.EOF
			c.release()
		default:
			if c.give(buf[:n], at); n < len(buf) && !toTheEnd {
				return
			}
		}
	}
}

func (c *conn) give(b []byte, at time.Time) {
	rest, over := c.sink(b, at)
	if over {
		c.held, c.heldAt = append(c.held[:0], rest...), at
		c.release()
	}
}
