package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ridgeline/ridgeline/internal/report"
)

// parcel is an answer as it is sent, charged to what is held until it is given back.
type parcel struct {
	body   []byte
	packed bool // gzip
	give   func()
}

// form turns a document into what is sent.
type form func(doc any) (body []byte, packed bool, _ error)

// inTurn makes an answer at the gate, so that few of them are in the making; what it returns must be given back.
// A panic is a defect of one answer, and not the end of the server, on whatever goroutine this runs.
func (s *Server) inTurn(ctx context.Context, quick bool, answer func(context.Context) (any, error), into form) (p *parcel, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, defective(v)
		}
	}()
	ctx, leave, err := s.gate.enter(ctx, quick)
	if err != nil {
		return nil, err
	}
	defer leave()
	doc, err := answer(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, s.gate.cut(ctx) // whatever was found is not the answer that was asked for
	case err != nil:
		return nil, badInput(err)
	}
	body, packed, err := into(doc)
	if err != nil {
		return nil, problem(http.StatusInternalServerError, "the answer has no JSON form: "+err.Error())
	}
	give, err := s.held.take(int64(cap(body)))
	if err != nil {
		return nil, err
	}
	return &parcel{body, packed, give}, nil
}

// reply answers with one document.
func (s *Server) reply(h huma.Context, quick bool, answer func(context.Context) (any, error)) {
	r, w := humago.Unwrap(h)
	p, err := s.inTurn(r.Context(), quick, answer, documentFor(r))
	if errors.Is(err, errGone) {
		panic(http.ErrAbortHandler) // no status says it: the connection is closed
	}
	if err != nil {
		refuse(w, asProblem(err))
		return
	}
	defer p.give()
	head := w.Header()
	head.Set("Content-Type", "application/json")
	head.Set("Cache-Control", "no-store")
	head.Add("Vary", "Accept-Encoding")
	head.Set("Content-Length", strconv.Itoa(len(p.body)))
	if p.packed {
		head.Set("Content-Encoding", "gzip")
	}
	_ = pour(w, s.limits.Patience, p.body) // the client went away or stopped reading: nobody is left to tell
}

// worthIt is the least size in bytes, about a packet, that is compressed.
const worthIt = 1400

// documentFor is an answer as --json prints it, compressed for clients that take gzip: catalogues shrink to a
// tenth. No answer holds a secret that its size could tell.
func documentFor(r *http.Request) form {
	zip := accepts(r.Header.Values("Accept-Encoding"), "gzip")
	return func(doc any) ([]byte, bool, error) {
		var plain bytes.Buffer
		if err := report.JSON(&plain, doc); err != nil || !zip || plain.Len() < worthIt {
			return plain.Bytes(), false, err
		}
		var small bytes.Buffer
		z, _ := gzip.NewWriterLevel(&small, gzip.BestSpeed) // a level that exists
		_, err := z.Write(plain.Bytes())
		err = errors.Join(err, z.Close()) // before its bytes are taken
		return small.Bytes(), true, err
	}
}

// eventOf is an answer as a server-sent event.
func eventOf(name string) form {
	return func(doc any) ([]byte, bool, error) {
		b, err := json.Marshal(doc)
		return eventText(name, b), false, err
	}
}

// answered registers a short answer, which takes a quick turn.
func answered[I any](s *Server, op huma.Operation, document any, answer func(context.Context, *I) (any, error)) {
	op.Responses = map[string]*huma.Response{"200": {Description: "the answer", Content: map[string]*huma.MediaType{
		"application/json": {Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(document), true, op.OperationID)},
	}}}
	huma.Register(s.api, op, func(_ context.Context, in *I) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(h huma.Context) {
			s.reply(h, true, func(ctx context.Context) (any, error) {
				doc, err := answer(ctx, in)
				if err != nil {
					return nil, asProblem(err)
				}
				return doc, nil
			})
		}}, nil
	})
}

// asProblem is an error as it is told; what bears no wording of its own is the server's fault.
func asProblem(err error) *Problem {
	var own *Problem
	if errors.As(err, &own) {
		return own
	}
	return problem(http.StatusInternalServerError, err.Error())
}
