package wire

import (
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// perLoop is how many connections one goroutine serves before another one starts, as far as
// there are processors: at a hundred pieces a second each, and some 5 us a piece, half a processor.
const perLoop = 1024

// A loop waits for what happens on its connections. It lives as long as the process, as
// Go's own poller does, by which it is woken.
type loop struct {
	epoll int // of the connections
	gate  gate

	mu    sync.Mutex
	last  int32
	conns map[int32]*conn
}

var loops struct {
	mu  sync.Mutex
	all []*loop
}

// join puts c into the loop with the fewest connections.
func join(c *conn) (*loop, error) {
	loops.mu.Lock()
	defer loops.mu.Unlock()
	var l *loop
	fewest := perLoop
	for _, x := range loops.all {
		if n := x.size(); l == nil || n < fewest {
			l, fewest = x, n
		}
	}
	if fewest >= perLoop && len(loops.all) < runtime.GOMAXPROCS(0) || l == nil {
		var err error
		if l, err = newLoop(); err != nil {
			return nil, err
		}
		loops.all = append(loops.all, l)
		go l.run()
	}
	return l, l.add(c)
}

func newLoop() (*loop, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	l := &loop{epoll: fd, conns: map[int32]*conn{}}
	if l.gate, err = newGate(fd); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return l, nil
}

func (l *loop) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

func (l *loop) add(c *conn) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for taken := true; taken; _, taken = l.conns[l.last] {
		l.last++
	}
	c.number = l.last
	err := l.watch(unix.EPOLL_CTL_ADD, c)
	if err == nil {
		l.conns[c.number] = c
	}
	return err
}

// find looks up the connections of events.
func (l *loop) find(events []unix.EpollEvent, into []*conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range events {
		into[i] = l.conns[events[i].Fd]
	}
}

// watch is edge-triggered: each change is told once. Errors and hang-ups of both sides are told
// unasked.
func (l *loop) watch(op int, c *conn) error {
	return unix.EpollCtl(l.epoll, op, c.fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: c.number})
}

// again has told what holds for c now, as if it were new.
func (l *loop) again(c *conn) {
	if err := l.watch(unix.EPOLL_CTL_MOD, c); err != nil {
		c.broken = c.failed("epoll_ctl", err)
		c.release()
	}
}

// leave forgets c; the kernel does so when its last descriptor is closed.
func (l *loop) leave(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c.number)
}
