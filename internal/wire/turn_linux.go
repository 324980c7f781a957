package wire

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// yield is how long a loop goes on before it lets Go's scheduler look for timers that are due: the thread
// that waited for them and for the poller is the one that serves the loop.
const yield = time.Millisecond

// turns is what a loop's goroutine has before it.
type turns struct {
	*loop
	reader
	ring   *ring // nil where there is none
	batch  batch // of connections that it reads
	events []unix.EpollEvent
	conns  []*conn // of the events, nil where it was closed since
	// Connections that may have more to read, which no edge tells any more. One of them is read
	// after whatever else happened: a stream without an end costs others one piece.
	queue []*conn

	pace         pace
	began, ended time.Time // of the turn before
	yielded      time.Time // to other goroutines
	full         bool      // it had all the room for events, so that there may be more
}

// run serves the connections for ever. Between turns it waits in Go's own poller, which costs less
// than to wait in a system call: Go watches those, every 20 us at first.
func (l *loop) run() {
	const most = 128 // events
	t := turns{loop: l, reader: reader{piece: piece{buf: make([]byte, Piece)}, between: gaps{usual: longest}}, events: make([]unix.EpollEvent, most), conns: make([]*conn, most)}
	t.ring, _ = newRing(most) // without one each read is a call
	err := l.gate.wait(func() {
		t.yielded = time.Now()
		for waited := true; t.turn(waited); {
			if waited = false; t.ended.Sub(t.yielded) > yield {
				runtime.Gosched()
				t.yielded = t.ended
			}
		}
	})
	panic("epoll: " + err.Error()) // closed by nobody
}

// turn reads what there is; false tells that there is nothing. Where nobody waited since the turn before,
// what is told now came during that.
func (t *turns) turn(waited bool) bool {
	var nap time.Duration
	if !t.full && len(t.queue) == 0 {
		nap = t.pace.nap(&t.reader)
	}
	napped := nap > 0
	if napped {
		time.Sleep(nap)
		t.yielded = time.Now()
	}
	n := t.poll()
	if n == 0 && len(t.queue) == 0 {
		if napped {
			t.pace = pace{}
		}
		return false
	}
	t.begin()
	if waited {
		t.began = t.clock.now
	}
	t.serve(n, t.began)
	took := t.end()
	t.pace.turn(napped, t.clock.now.Sub(t.ended), &t.reader)
	t.ended = t.clock.now.Add(took)
	if t.full = n == len(t.events); !t.full { // else some wait since even earlier
		t.began = t.clock.now
	}
	return true
}

// poll gives the number of connections on which something happened. Go's scheduler need not hear of a
// call that does not wait.
func (t *turns) poll() int {
	n, _, err := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(t.epoll), uintptr(unsafe.Pointer(&t.events[0])), uintptr(len(t.events)), 0, 0, 0)
	if err != 0 {
		panic("epoll_wait: " + err.Error()) // a wrong argument: a call that does not wait has no other reason
	}
	return int(n)
}

// serve reads what n events told, and one connection of the queue. What was told may have come
// at the given time.
func (t *turns) serve(n int, came time.Time) {
	next := len(t.queue) > 0 // of those that wait already
	t.find(t.events[:n], t.conns)
	t.read(t.events[:n], t.conns[:n], came)
	clear(t.conns[:n])
	if next {
		c := t.queue[0]
		t.queue[0], t.queue = nil, t.queue[1:]
		came := c.queued
		c.queued = time.Time{}
		t.read([]unix.EpollEvent{{}}, []*conn{c}, came)
	}
}

// read gives connections their turn, and a place in the queue where there may be more. What they
// bring may have come at the given time.
func (t *turns) read(events []unix.EpollEvent, conns []*conn, came time.Time) {
	for i, c := range conns {
		switch {
		case c == nil || !c.turn(events[i].Events):
		case t.ring == nil || len(conns) == 1:
			t.pass(c, t.receive(c.fd, t.buf), came)
		default:
			t.batch.add(c)
		}
	}
	if len(t.batch.conns) > 0 {
		t.batch.receive(t.ring)
		for i, c := range t.batch.conns {
			t.pass(c, t.batch.pieces[i], came)
		}
		t.batch.reset()
	}
}

// pass hands over what was read of a connection, whose turn is over then.
func (t *turns) pass(c *conn, p *piece, came time.Time) {
	defer c.mu.Unlock()
	if c.pass(&t.reader, p, came, c.ends) {
		c.queued = came
		t.queue = append(t.queue, c)
	}
}
