package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/record"
)

// The protocol between two probes: the client sends one of these lines; then both
// echo 64-byte messages, or one side sends until the other hangs up.
const (
	helloEcho   = "ridgeline-tcp-1 echo\n"
	helloSink   = "ridgeline-tcp-1 sink\n"   // the client sends
	helloSource = "ridgeline-tcp-1 source\n" // the server sends
)

const (
	pingBytes  = 64
	blockBytes = 1 << 20
	idle       = 30 * time.Second // a peer that says nothing for so long is gone
)

// ServeTCP answers TCP probes until ctx ends.
func ServeTCP(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	var open sync.WaitGroup
	defer open.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		open.Go(func() {
			defer c.Close()
			quit := context.AfterFunc(ctx, func() { c.Close() })
			defer quit()
			answer(c)
		})
	}
}

// answer serves one connection; what goes wrong shows at the client.
func answer(c net.Conn) {
	r := bufio.NewReaderSize(c, len(helloSource))
	c.SetDeadline(time.Now().Add(idle))
	hello, err := r.ReadString('\n')
	if err != nil {
		return
	}
	buf := make([]byte, blockBytes)
	for {
		c.SetDeadline(time.Now().Add(idle))
		switch hello {
		case helloEcho:
			if _, err = io.ReadFull(r, buf[:pingBytes]); err == nil {
				_, err = c.Write(buf[:pingBytes])
			}
		case helloSink:
			_, err = r.WriteTo(io.Discard)
			if err == nil {
				return
			}
		case helloSource:
			_, err = c.Write(buf)
		default:
			io.WriteString(c, "ridgeline-tcp-1 unknown request\n")
			return
		}
		if err != nil {
			return
		}
	}
}

// TCP is what to measure to another host that runs ServeTCP.
type TCP struct {
	To      string        // host:port
	Streams int           // connections at once; 0 = 1
	Repeats int           // 0 = 5
	Time    time.Duration // of one bandwidth repeat; 0 = 1 s
	Pings   int           // of one round-trip repeat; 0 = 500
	Done    func(done, all int)
}

// Run measures round trip, sending and receiving; a cancelled context keeps what is done.
func (t *TCP) Run(ctx context.Context, rec *record.Record) error {
	t.Streams, t.Repeats, t.Pings = max(t.Streams, 1), orDefault(t.Repeats, 5), orDefault(t.Pings, 500)
	if t.Time <= 0 {
		t.Time = time.Second
	}
	trip := record.Result{Kind: record.Network, What: "round-trip", Unit: "s", Kernel: "TCP, 64 bytes each way", Device: t.To, Bytes: pingBytes}
	send := record.Result{Kind: record.Network, What: "bandwidth", Unit: "bytes/s", Kernel: fmt.Sprintf("TCP, %d streams, sending", t.Streams), Device: t.To, Nodes: 2}
	receive := send
	receive.Kernel = strings.Replace(send.Kernel, "sending", "receiving", 1)
	for i, m := range []struct {
		result record.Result
		once   func(context.Context) (float64, error)
	}{{trip, t.ping}, {send, func(ctx context.Context) (float64, error) { return t.flood(ctx, helloSink) }}, {receive, func(ctx context.Context) (float64, error) { return t.flood(ctx, helloSource) }}} {
		var samples []float64
		for j := range t.Repeats {
			v, err := m.once(ctx)
			if ctx.Err() != nil {
				rec.Partial = true
				break
			}
			if err != nil {
				return fmt.Errorf("%s: %w: start `ridgeline probe tcp --listen` there and open its port", t.To, err)
			}
			samples = append(samples, v)
			if t.Done != nil {
				t.Done(i*t.Repeats+j+1, 3*t.Repeats)
			}
		}
		if len(samples) > 0 {
			m.result.Summarize(samples)
			rec.Results = append(rec.Results, m.result)
		}
		if rec.Partial {
			return nil
		}
	}
	return nil
}

func orDefault(n, usual int) int {
	if n <= 0 {
		return usual
	}
	return n
}

// dial opens a connection that ends with ctx.
func (t *TCP) dial(ctx context.Context, hello string) (net.Conn, func(), error) {
	d := net.Dialer{Timeout: 10 * time.Second}
	c, err := d.DialContext(ctx, "tcp", t.To)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	c.SetDeadline(time.Now().Add(t.Time + idle))
	if _, err := io.WriteString(c, hello); err != nil {
		c.Close()
		return nil, nil, err
	}
	return c, func() { stop(); c.Close() }, nil
}

// ping is the mean round trip of a row of messages, seconds.
func (t *TCP) ping(ctx context.Context) (float64, error) {
	c, hangUp, err := t.dial(ctx, helloEcho)
	if err != nil {
		return 0, err
	}
	defer hangUp()
	buf := make([]byte, pingBytes)
	var start time.Time
	const warm = 10
	for i := range warm + t.Pings {
		if i == warm {
			start = time.Now()
		}
		if _, err := c.Write(buf); err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(c, buf); err != nil {
			return 0, err
		}
	}
	return time.Since(start).Seconds() / float64(t.Pings), nil
}

// flood sends or receives on all streams for the repeat's time; bytes per second.
func (t *TCP) flood(ctx context.Context, hello string) (float64, error) {
	var wg sync.WaitGroup
	moved, failed := make([]int64, t.Streams), make([]error, t.Streams)
	start := time.Now()
	for i := range t.Streams {
		wg.Go(func() {
			c, hangUp, err := t.dial(ctx, hello)
			if err != nil {
				failed[i] = err
				return
			}
			defer hangUp()
			buf := make([]byte, blockBytes)
			c.SetDeadline(start.Add(t.Time))
			for {
				var n int
				if hello == helloSink {
					n, err = c.Write(buf)
				} else {
					n, err = c.Read(buf)
				}
				moved[i] += int64(n)
				if errors.Is(err, os.ErrDeadlineExceeded) {
					return
				}
				if err != nil {
					failed[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(start).Seconds()
	var all int64
	for _, n := range moved {
		all += n
	}
	if err := errors.Join(failed...); err != nil {
		return 0, err
	}
	return float64(all) / took, nil
}
