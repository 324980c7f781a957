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

	"github.com/ridgeline/ridgeline/internal/wire"
)

// stream is an answer that comes as events. What each chunk needs lies together: of a thousand streams
// none is in the processor's caches when its turn comes.
type stream struct {
	*exchange
	at      time.Duration
	total   int64 // bytes
	failed  error // of the sink
	left    bool  // by the sink, at the line of a chunk
	start   time.Time
	chunks  chunked
	each    func(b []byte) error // of the chunks
	events  events
	event   func(kind, data []byte) error
	idle    *idleWatch
	kind    string // what the answer calls itself, "" = nothing
	foreign bool   // which is no stream of events
}

// stream reads an answer that comes as events.
func (x *exchange) stream(ctx context.Context, p *http.Response) error {
	kind := p.Header.Get("Content-Type")
	if strings.HasPrefix(kind, "application/json") {
		if err := x.whole(p); err != nil {
			return err
		}
		x.answer.Chunks, x.answer.Answer = nil, -1
		return &outcome{Garbage, "a whole answer came where a stream was asked for"}
	}
	s := &stream{exchange: x, start: x.client.start, events: events{limit: x.client.limits.Event}, idle: x.client.watchIdle(x.give)}
	s.each, s.event = s.chunk, s.take
	coding := p.Header.Get("Content-Encoding")
	s.kind = strings.TrimSpace(kind + " " + coding)
	s.foreign = coding != "" || kind != "" && !strings.HasPrefix(kind, "text/event-stream")
	defer s.idle.timer.Stop()
	if slices.Equal(p.TransferEncoding, []string{"chunked"}) {
		if over, err := s.attach(ctx); over {
			return err
		}
	}
	return s.pull(p.Body)
}

// attach has the events read where they arrive, without a switch to this goroutine for each. over
// tells that the answer is; else pull goes on from the line of a chunk. What is no chunk of the body, such
// as its end, is left to pull, and so are long events: to parse them would hold other streams up.
func (s *stream) attach(ctx context.Context) (over bool, err error) {
	s.mu.Lock()
	taker := s.taker
	s.mu.Unlock()
	if taker == nil {
		return false, nil
	}
	ended, ok := taker.Take(s.sink)
	if !ok {
		return false, nil
	}
	select {
	case <-ended:
	case <-ctx.Done():
	}
	taker.Release() // the sink runs no more
	switch {
	case s.failed != nil:
		return true, s.closed(s.failed, s.at)
	case !s.left && ctx.Err() != nil: // perhaps within a chunk, where nobody else could go on
		return true, s.closed(context.Cause(ctx), s.at)
	}
	return false, nil // to the line of a chunk, or to the end of the connection
}

// sink is where the connection hands over what comes of the body.
func (s *stream) sink(b []byte, since, at time.Time) (rest []byte, over bool) {
	before := len(s.answer.Chunks)
	s.at = at.Sub(s.start)
	rest, s.left, s.failed = s.chunks.feed(b, s.each)
	s.several(before, at.Sub(since))
	return rest, s.left
}

// several notes that one read brought more than one chunk since there were so many: all have the time of
// the last, though the first may have come so much earlier.
func (s *stream) several(before int, earlier time.Duration) {
	if len(s.answer.Chunks)-before > 1 {
		wire.Doubt(earlier)
	}
}

// chunk takes the data of a chunk that came just now.
func (s *stream) chunk(b []byte) error {
	err := s.got(b, s.at)
	s.chunks.leave = s.done || s.events.held() > wire.Piece
	return err
}

var buffers = sync.Pool{New: func() any { return new([readBuffer]byte) }}

// pull reads the body to its end.
func (s *stream) pull(body io.Reader) error {
	buf := buffers.Get().(*[readBuffer]byte)
	defer buffers.Put(buf)
	for {
		n, err := body.Read(buf[:])
		at := s.client.now()
		if n > 0 {
			at = s.came()
			before := len(s.answer.Chunks)
			if err := s.got(buf[:n], at); err != nil {
				return err
			}
			s.several(before, 0)
		}
		if err != nil {
			return s.closed(err, at)
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
	s.total += int64(len(b))
	err := s.events.feed(b, s.event)
	switch {
	case s.done:
		s.idle.over.Store(true)
		s.idle.timer.Reset(closing)
		return nil
	case errors.Is(err, errEventTooLong):
		return &outcome{TooLarge, fmt.Sprintf("one event is longer than %d bytes", s.client.limits.Event)}
	case err == nil && s.total > s.client.limits.Body:
		return &outcome{TooLarge, fmt.Sprintf("the answer is longer than %d bytes", s.client.limits.Body)}
	}
	return err
}

// errDone ends the feeding of events at [DONE]: what follows counts nowhere, however it is cut.
var errDone = errors.New("[DONE] came")

func (s *stream) take(kind, data []byte) error {
	err := s.exchange.take(s.at, kind, data)
	if err == nil && s.done {
		return errDone
	}
	return err
}

// closed judges the end of a stream.
func (s *stream) closed(err error, at time.Duration) error {
	a, e := s.answer, &s.events
	if s.done {
		return s.finished() // how the connection ended changes nothing
	}
	if err != io.EOF {
		return err
	}
	a.End = at
	switch {
	case s.total > 0 && a.FirstEvent == 0 && (s.foreign || !e.spoke()):
		return &outcome{Garbage, fmt.Sprintf("no event in %d bytes of type %q", s.total, s.client.clean(s.kind))}
	case e.half():
		return &outcome{HalfEvent, "the stream ended within an event"}
	case a.Finish == "":
		return &outcome{NoFinish, "the stream ended without a finish_reason"}
	}
	return &outcome{NoDone, "the stream ended without [DONE]"}
}
