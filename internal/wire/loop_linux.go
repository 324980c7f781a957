package wire

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// perLoop is how many connections one goroutine serves before another one starts, as far as
// there are processors: at a hundred pieces a second each, and some 5 us a piece, half a processor.
const perLoop = 1024

// A loop waits for what happens on its connections. It lives as long as the process, as
// Go's own poller does, and costs a thread that sleeps.
type loop struct {
	epoll int
	buf   []byte // only its goroutine's

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
		fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
		if err != nil {
			return nil, err
		}
		const buffer = 64 << 10
		l = &loop{epoll: fd, buf: make([]byte, buffer), conns: map[int32]*conn{}}
		loops.all = append(loops.all, l)
		go l.run()
	}
	return l, l.add(c)
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
	// Edge-triggered: each change is told once. Errors and hang-ups of both sides are told unasked.
	err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, c.fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: l.last})
	if err == nil {
		c.number = l.last
		l.conns[c.number] = c
	}
	return err
}

// leave forgets c; the kernel does so when its last descriptor is closed.
func (l *loop) leave(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c.number)
}

func (l *loop) run() {
	events := make([]unix.EpollEvent, 128)
	for {
		n, err := unix.EpollWait(l.epoll, events, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			panic("epoll_wait: " + err.Error()) // a wrong argument: there is no other reason
		}
		var began time.Time
		if n > 1 {
			began = time.Now()
		}
		for _, e := range events[:n] {
			l.mu.Lock()
			c := l.conns[e.Fd]
			l.mu.Unlock()
			if c != nil { // else it was closed since
				c.happened(e.Events, l.buf)
			}
		}
		if n > 1 { // the last one waited for the others
			noteBehind(time.Since(began))
		}
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
