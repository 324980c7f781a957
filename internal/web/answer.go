package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ridgeline/ridgeline/internal/report"
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
	op := c.op
	op.Method = http.MethodPost
	op.SkipValidateBody = true // fill refuses in the command line's words
	op.MaxBodyBytes = s.limits.Body
	op.Errors = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusMisdirectedRequest, http.StatusUnprocessableEntity, http.StatusServiceUnavailable}
	schema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(c.document), true, op.OperationID)
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Example: c.example}}}
	op.Responses = map[string]*huma.Response{"200": {Description: "the answer", Content: map[string]*huma.MediaType{
		"application/json":  {Schema: schema},
		"text/event-stream": s.eventStream(map[string]any{"progress": Done{}, "result": c.document, "error": Problem{}}),
	}}}
	huma.Register(s.api, op, func(ctx context.Context, in *input[B]) (*huma.StreamResponse, error) {
		if wantsEvents(in.Accept) {
			return &huma.StreamResponse{Body: func(h huma.Context) { stream(h, s, c, &in.Body) }}, nil
		}
		doc, err := compute(ctx, s, c, &in.Body, func(int, int) {})
		if err != nil {
			return nil, err
		}
		return document(doc)
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

// compute answers in turn. A panic is a defect of one answer, and not the end of
// the server, on whatever goroutine this runs.
func compute[B any](ctx context.Context, s *Server, c computed[B], body *B, p progress) (doc any, err error) {
	defer func() {
		if v := recover(); v != nil {
			doc, err = nil, defective(v)
		}
	}()
	ctx, leave, err := s.gate.enter(ctx, c.quick != nil && c.quick(body))
	if err != nil {
		return nil, err
	}
	defer leave()
	doc, err = c.answer(ctx, body, p)
	var own *Problem
	switch {
	case ctx.Err() != nil:
		return nil, s.gate.cut(ctx) // whatever was found is not the answer that was asked for
	case errors.As(err, &own):
		return nil, own
	case err != nil:
		return nil, badInput(err)
	}
	return doc, nil
}

// document is an answer as --json prints it.
func document(doc any) (*huma.StreamResponse, error) {
	var b bytes.Buffer
	if err := report.JSON(&b, doc); err != nil {
		return nil, problem(http.StatusInternalServerError, "the answer has no JSON form: "+err.Error())
	}
	return &huma.StreamResponse{Body: func(h huma.Context) {
		h.SetHeader("Content-Type", "application/json")
		h.SetHeader("Cache-Control", "no-store")
		_, _ = h.BodyWriter().Write(b.Bytes()) // the client went away: nobody is left to tell
	}}, nil
}

// wantsEvents tells whether the client asked for a stream.
func wantsEvents(accept string) bool {
	for _, item := range strings.Split(accept, ",") {
		if t, _, err := mime.ParseMediaType(item); err == nil && t == "text/event-stream" {
			return true
		}
	}
	return false
}

// stream answers in events.
func stream[B any](h huma.Context, s *Server, c computed[B], body *B) {
	e := newEvents(h)
	type result struct {
		doc any
		err error
	}
	done := make(chan result, 1)
	ctx, cancel := context.WithCancel(h.Context())
	defer cancel()
	go func() {
		doc, err := compute(ctx, s, c, body, e.progress)
		done <- result{doc, err}
	}()
	for {
		select {
		case at := <-e.at:
			e.send("progress", at)
		case <-e.tick.C:
			e.beat()
		case r := <-done:
			e.finish(r.doc, r.err)
			return
		}
		if e.failed != nil {
			cancel() // the client is gone
			<-done
			return
		}
	}
}

// finish sends the last event.
func (e *events) finish(doc any, err error) {
	var own *Problem
	switch {
	case errors.As(err, &own):
		e.send("error", own)
	case err != nil:
		e.send("error", problem(http.StatusInternalServerError, err.Error()))
	default:
		if _, err := json.Marshal(doc); err != nil {
			e.send("error", problem(http.StatusInternalServerError, "the answer has no JSON form: "+err.Error()))
			return
		}
		e.send("result", doc)
	}
}
