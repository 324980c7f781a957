package netlab

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// stream is one direction of a connection.
type stream struct {
	proxy    *Proxy
	from, to net.Conn
	wire     *wire
	begins   time.Time // before which nothing is sent
	ahead    time.Time // before which nothing arrives: when the last piece does
	count    *atomic.Int64
}

// parcel is bytes on the wire, and when they are there. The last one is empty and
// carries how the stream ended.
type parcel struct {
	data []byte
	at   time.Time
	err  error
}

// Sizes of the pieces that are read, and how many of them may be on the wire: 8 MB,
// enough for a gigabyte per second at a delay of 8 ms. Beyond that the sender waits,
// as it would for a full window.
const (
	pieceBytes = 32 << 10
	onTheWire  = 256
)

// run carries bytes until the stream ends, and then the end. Its error is why it
// did not end well.
func (s *stream) run() error {
	wire := make(chan parcel, onTheWire)
	gone := make(chan struct{}) // nobody takes parcels any more
	s.proxy.running.Go(func() { s.read(wire, gone) })
	err := s.write(wire)
	close(gone)
	return err
}

// read stamps what comes with its arrival.
func (s *stream) read(wire chan<- parcel, gone <-chan struct{}) {
	defer close(wire)
	b := make([]byte, pieceBytes)
	for {
		n, err := s.from.Read(b)
		if n > 0 {
			s.ahead = s.wire.arrival(s.now(), n, s.ahead)
			select {
			case wire <- parcel{data: bytes.Clone(b[:n]), at: s.ahead}:
			case <-gone:
				return
			}
		}
		if err != nil {
			s.ahead = s.wire.arrival(s.now(), 0, s.ahead)
			select {
			case wire <- parcel{at: s.ahead, err: err}:
			case <-gone:
			}
			return
		}
	}
}

// now is when what was just read is sent.
func (s *stream) now() time.Time {
	if t := time.Now(); t.After(s.begins) {
		return t
	}
	return s.begins
}

// write hands on each parcel when its time has come.
func (s *stream) write(wire <-chan parcel) error {
	due := make(chan struct{}, 1)
	for x := range wire {
		if time.Until(x.at) > 0 {
			s.proxy.alarm.ring(x.at, due)
			select {
			case <-due:
			case <-s.proxy.stop:
				return net.ErrClosed
			}
		}
		switch {
		case errors.Is(x.err, io.EOF):
			if tcp, ok := s.to.(*net.TCPConn); ok {
				_ = tcp.CloseWrite() // it may have ended itself meanwhile
			}
			return nil
		case x.err != nil:
			return x.err
		}
		if _, err := s.to.Write(x.data); err != nil {
			return err
		}
		s.count.Add(int64(len(x.data)))
	}
	return nil
}
