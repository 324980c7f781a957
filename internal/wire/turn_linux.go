package wire

import (
	"time"

	"golang.org/x/sys/unix"
)

// short is a turn so short that nobody asks who waited for it.
const short = 100 * time.Microsecond

// turns is what a loop's goroutine has before it.
type turns struct {
	*loop
	buf    []byte
	events []unix.EpollEvent
	// Connections that may have more to read, which no edge tells any more. One of them is read
	// after whatever else happened: a stream without an end costs others one piece.
	queue []*conn
	late  time.Duration
}

func (l *loop) run() {
	t := turns{loop: l, buf: make([]byte, Piece), events: make([]unix.EpollEvent, 128)}
	var began time.Time // of the turn before
	took, full := time.Duration(0), false
	for {
		n := 0
		waited := len(t.queue) > 0 || took > short || full // what is told now came during the turn before
		if waited {
			n = t.wait(0)
		}
		if n == 0 && len(t.queue) == 0 {
			n, waited = t.wait(-1), false
		}
		since := time.Now()
		if !waited {
			began = since
		}
		t.serve(n, began)
		took = time.Since(since)
		if full = n == len(t.events); !full { // else some wait since even earlier
			began = since
		}
		noteBehind(t.late)
		t.late = 0
	}
}

func (t *turns) wait(limit int) int {
	for {
		n, err := unix.EpollWait(t.epoll, t.events, limit)
		switch err {
		case nil:
			return n
		case unix.EINTR:
		default:
			panic("epoll_wait: " + err.Error()) // a wrong argument: there is no other reason
		}
	}
}

// serve reads what n events told, and one connection of the queue. What was told may have come
// at the given time.
func (t *turns) serve(n int, came time.Time) {
	next := len(t.queue) > 0 // of those that wait already
	for _, e := range t.events[:n] {
		t.mu.Lock()
		c := t.conns[e.Fd]
		t.mu.Unlock()
		if c != nil && c.happened(e.Events) && c.queued.IsZero() { // else it was closed since
			t.read(c, came)
		}
	}
	if next {
		c := t.queue[0]
		t.queue[0], t.queue = nil, t.queue[1:]
		came := c.queued
		c.queued = time.Time{}
		t.read(c, came)
	}
}

// read gives a connection its turn, and a place in the queue where there may be more. What it
// brings may have come at the given time.
func (t *turns) read(c *conn, came time.Time) {
	more, at := c.turn(t.buf)
	if !at.IsZero() {
		t.late = max(t.late, at.Sub(came))
	}
	if more {
		c.queued = came
		t.queue = append(t.queue, c)
	}
}

func noteBehind(d time.Duration) {
	for {
		old := behind.Load()
		if int64(d) <= old || behind.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}
