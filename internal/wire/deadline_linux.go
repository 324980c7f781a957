package wire

import (
	"net"
	"time"
)

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
