package netlab

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy carries TCP connections to a target over a link.
type Proxy struct {
	target   string
	listener net.Listener
	up, down *wire
	alarm    *alarm
	stop     chan struct{}
	running  sync.WaitGroup

	mu    sync.Mutex
	open  map[net.Conn]bool
	ended bool

	connections, sent, received, refused atomic.Int64
}

// Stats is what went through.
type Stats struct {
	Connections int64
	Refused     int64 // connections that the target did not take
	Up, Down    int64 // bytes
}

// Start carries what comes to listen (host:port, port 0 takes a free one) to the
// target, until Close. Jitter is drawn from the seed.
func Start(listen, target string, l Link, seed uint64) (*Proxy, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	if _, _, err := net.SplitHostPort(target); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	p := &Proxy{target: target, listener: ln, up: newWire(l.Up, seed), down: newWire(l.Down, seed+1), alarm: newAlarm(),
		stop: make(chan struct{}), open: map[net.Conn]bool{}}
	p.running.Go(func() { p.alarm.run(p.stop) })
	p.running.Go(p.accept)
	return p, nil
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Dial connects to the proxy whatever the address: a client that dials with it
// keeps its URL, and the host name that TLS checks.
func (p *Proxy) Dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, p.Addr())
}

// Close ends all connections and waits until nothing of the proxy runs.
func (p *Proxy) Close() error {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return nil
	}
	p.ended = true
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	close(p.stop)
	err := p.listener.Close()
	p.running.Wait()
	return err
}

// Stats counts.
func (p *Proxy) Stats() Stats {
	return Stats{p.connections.Load(), p.refused.Load(), p.sent.Load(), p.received.Load()}
}

// accept takes connections until the listener is closed.
func (p *Proxy) accept() {
	const pause = 10 * time.Millisecond // after a failure such as too many open files
	for {
		c, err := p.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(pause)
			continue
		}
		if p.hold(c) {
			p.running.Go(func() { p.carry(c) })
		}
	}
}

// hold remembers a connection to be closed with the proxy; one that comes after
// that is closed at once.
func (p *Proxy) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		_ = c.Close()
		return false
	}
	p.open[c] = true
	return true
}

// release closes a connection. With reset the other end sees an error, not an end.
func (p *Proxy) release(c net.Conn, reset bool) {
	if tcp, ok := c.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
	p.mu.Lock()
	delete(p.open, c)
	p.mu.Unlock()
}

// carry is the life of one connection. A client's handshake is over on this side of
// the link at once; the round trip that it would have taken is added before the
// first byte, so that a new connection costs what it would.
func (p *Proxy) carry(client net.Conn) {
	p.connections.Add(1)
	d := net.Dialer{Timeout: 10 * time.Second}
	target, err := d.Dial("tcp", p.target)
	if err != nil || !p.hold(target) {
		p.refused.Add(1)
		p.release(client, true)
		return
	}
	shaken := time.Now().Add(p.up.Delay + p.down.Delay)
	var broken atomic.Bool // a direction ended with an error: so does the other
	var both sync.WaitGroup
	for _, x := range []*stream{
		{proxy: p, from: client, to: target, wire: p.up, begins: shaken, count: &p.sent},
		{proxy: p, from: target, to: client, wire: p.down, count: &p.received},
	} {
		both.Go(func() {
			if err := x.run(); err != nil {
				broken.Store(true)
				p.release(client, true)
				p.release(target, true)
			}
		})
	}
	both.Wait()
	p.release(client, broken.Load())
	p.release(target, broken.Load())
}
