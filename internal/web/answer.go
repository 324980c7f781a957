package web

import (
	"cmp"
	"context"
	"errors"
	"mime"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// progress tells how far a computation is.
type progress func(done, all int)

// computed is an answer that takes a turn at the gate; it may be streamed.
type computed[B any] struct {
	op     huma.Operation
	answer func(ctx context.Context, body *B, p progress) (any, error)
	// quick tells what takes less than a search; nil: nothing does.
	quick func(body *B) bool
	// For the description: the type of the answer, and a body.
	document any
	example  example
}

// input of a computed answer.
type input[B any] struct {
	Accept string `header:"Accept" doc:"text/event-stream streams progress events, then result or error; closing the connection cancels"`
	Body   B
}

// add registers a computed answer. With Accept: text/event-stream it comes as
// events: progress as often as it changes, then result or error.
func add[B any](s *Server, c computed[B]) {
	op := s.posted(c.op)
	schema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(c.document), true, op.OperationID)
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Example: c.example}}}
	op.Responses = map[string]*huma.Response{"200": {Description: "the answer", Content: map[string]*huma.MediaType{
		"application/json":  {Schema: schema},
		"text/event-stream": s.eventStream(map[string]any{"progress": Done{}, "result": c.document, "error": Problem{}}),
	}}}
	huma.Register(s.api, op, func(_ context.Context, in *input[B]) (*huma.StreamResponse, error) {
		quick := c.quick != nil && c.quick(&in.Body)
		return &huma.StreamResponse{Body: func(h huma.Context) {
			if accepts([]string{in.Accept}, "text/event-stream") {
				stream(h, s, c, &in.Body, quick)
				return
			}
			s.reply(h, quick, func(ctx context.Context) (any, error) { return c.answer(ctx, &in.Body, func(int, int) {}) })
		}}, nil
	})
}

// eventStream describes an answer in server-sent events: the data of each by its name.
func (s *Server) eventStream(data map[string]any) *huma.MediaType {
	schemas := map[string]any{}
	for event, doc := range data {
		schemas[event] = s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(doc), true, event)
	}
	return &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Description: "server-sent events; x-events states the data of each"},
		Extensions: map[string]any{"x-events": schemas}}
}

// accepts tells whether a header names what, with a weight above 0 (RFC 9110
// section 12.4.2).
func accepts(header []string, what string) bool {
	for _, item := range strings.Split(strings.Join(header, ","), ",") {
		name, parameters, err := mime.ParseMediaType(item)
		if err != nil || name != what {
			continue
		}
		weight, err := strconv.ParseFloat(cmp.Or(parameters["q"], "1"), 64)
		return err == nil && weight > 0
	}
	return false
}

// stream answers in events.
func stream[B any](h huma.Context, s *Server, c computed[B], body *B, quick bool) {
	e := s.newEvents(h)
	defer e.tick.Stop()
	type result struct {
		parcel *parcel
		err    error
	}
	done := make(chan result, 1)
	ctx, cancel := context.WithCancel(h.Context())
	defer cancel()
	go func() {
		p, err := s.inTurn(ctx, quick, func(ctx context.Context) (any, error) { return c.answer(ctx, body, e.progress) }, eventOf("result"))
		done <- result{p, err}
	}()
	for {
		select {
		case at := <-e.at:
			e.send("progress", at)
		case <-e.tick.C:
			e.beat()
		case r := <-done:
			if errors.Is(r.err, errGone) {
				return
			}
			if r.err != nil {
				e.send("error", asProblem(r.err))
				return
			}
			defer r.parcel.give()
			e.write(r.parcel.body)
			return
		}
		if e.failed != nil {
			cancel() // the client is gone
			if r := <-done; r.parcel != nil {
				r.parcel.give()
			}
			return
		}
	}
}
