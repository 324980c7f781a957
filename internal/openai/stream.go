package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// stream is an answer that comes as events.
type stream struct {
	*exchange
	events events
	idle   *idleWatch
	total  int64 // bytes
	at     time.Duration
}

// stream reads an answer that comes as events.
func (x *exchange) stream(ctx context.Context, p *http.Response) error {
	if kind := p.Header.Get("Content-Type"); strings.HasPrefix(kind, "application/json") {
		if err := x.whole(p); err != nil {
			return err
		}
		x.answer.Chunks, x.answer.Answer = nil, -1
		return &outcome{Garbage, "a whole answer came where a stream was asked for"}
	}
	s := &stream{exchange: x, events: events{limit: x.client.limits.Event}, idle: x.client.watchIdle(x.give)}
	defer s.idle.timer.Stop()
	if slices.Equal(p.TransferEncoding, []string{"chunked"}) {
		if err := s.attach(ctx); err != nil {
			return err
		}
	}
	return s.pull(p.Body)
}

// attach has the events read where they arrive, without a switch to this goroutine for each.
// What is no chunk of the body, such as its end, is left to pull.
func (s *stream) attach(ctx context.Context) error {
	s.mu.Lock()
	taker := s.taker
	s.mu.Unlock()
	if taker == nil {
		return nil
	}
	var chunks chunked
	var failed error
	var at time.Duration
	each := func(b []byte) error { return s.got(b, at) }
	over, ok := taker.Take(func(b []byte, when time.Time) (rest []byte, over bool) {
		at = when.Sub(s.client.start)
		rest, over, failed = chunks.feed(b, each)
		return rest, over
	})
	if !ok {
		return nil
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
	taker.Release() // the sink runs no more
	return failed
}

var buffers = sync.Pool{New: func() any { return new([readBuffer]byte) }}

// pull reads the body to its end.
func (s *stream) pull(body io.Reader) error {
	buf := buffers.Get().(*[readBuffer]byte)
	defer buffers.Put(buf)
	for {
		n, err := body.Read(buf[:])
		at := s.client.now() // before anything is parsed
		if n > 0 {
			if err := s.got(buf[:n], at); err != nil {
				return err
			}
		}
		if err != nil {
			return s.closed(err, &s.events, at)
		}
	}
}

// got takes bytes of the body that were read at the time.
func (s *stream) got(b []byte, at time.Duration) error {
	s.idle.last.Store(int64(at))
	if s.done {
		return nil // nothing follows [DONE] but the end
	}
	s.answer.End, s.at = at, at
	if s.total += int64(len(b)); s.total > s.client.limits.Body {
		return &outcome{TooLarge, fmt.Sprintf("the answer is longer than %d bytes", s.client.limits.Body)}
	}
	switch err := s.events.feed(b, s.event); {
	case errors.Is(err, errEventTooLong):
		return &outcome{TooLarge, fmt.Sprintf("one event is longer than %d bytes", s.client.limits.Event)}
	case err != nil:
		return err
	}
	if s.done {
		s.idle.over.Store(true)
		s.idle.timer.Reset(closing)
	}
	return nil
}

func (s *stream) event(kind, data []byte) error { return s.exchange.take(s.at, kind, data) }

// closed judges the end of a stream.
func (x *exchange) closed(err error, e *events, at time.Duration) error {
	a := x.answer
	if x.done {
		return x.finished() // how the connection ended changes nothing
	}
	if err != io.EOF {
		return err
	}
	a.End = at
	switch {
	case e.half():
		return &outcome{HalfEvent, "the stream ended within an event"}
	case a.Finish == "":
		return &outcome{NoFinish, "the stream ended without a finish_reason"}
	}
	return &outcome{NoDone, "the stream ended without [DONE]"}
}
