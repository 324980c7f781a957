package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/bench"
)

// Services are what the page may evaluate: a client names one of them, so that
// neither the server's reach nor the key is lent to whoever may ask.
type Services struct {
	URLs []string // as `bench --url` takes them
	Key  string   // of the API, sent to these alone; never in an answer
}

// measured is the answer of an evaluation.
type measured struct {
	ID       string        `json:"id" doc:"of the run that was kept, empty where none was"`
	Document *bench.Report `json:"document" doc:"as bench --json prints it"`
	NotKept  *Problem      `json:"not_kept,omitempty" doc:"why the run could not be kept; the document is whole"`
}

// benchFields is the body of an evaluation.
type benchFields struct{ fields }

// notHere are flags of bench that name files, other hosts, or make a connection unsafe.
var notHere = []string{"trace", "metrics-url", "insecure", "keep-text", "worker"}

func (benchFields) Schema(huma.Registry) *huma.Schema {
	return schemaOf(ask.NewBench().Flags, []string{"url", "model"}, notHere...)
}

// request resolves the evaluation of one of the services.
func (f benchFields) request(o *Options) (*bench.Config, error) {
	q := ask.NewBench()
	if err := f.fill(q.Flags, &finder{}, notHere...); err != nil {
		return nil, badInput(err)
	}
	c, err := q.Request(&finder{})
	if err != nil {
		return nil, badInput(err)
	}
	if len(o.Services.URLs) == 0 {
		return nil, problem(http.StatusForbidden, "this server evaluates no services: start it with `ridgeline web --bench-url URL`").coded(codeNoServices, nil)
	}
	if !slices.ContainsFunc(o.Services.URLs, func(u string) bool { return sameURL(u, c.Service.URL) }) {
		return nil, &Problem{Title: http.StatusText(http.StatusForbidden), Status: http.StatusForbidden, Field: "url", Code: codeOtherService, Values: values{"url": c.Service.URL, "services": o.Services.URLs},
			Detail: fmt.Sprintf("url %q is none of the services that this server evaluates: choose one of %s", c.Service.URL, strings.Join(o.Services.URLs, ", "))}
	}
	c.Version, c.Service.Agent, c.Service.Key = o.Version, "ridgeline/"+o.Version, o.Services.Key
	return c, nil
}

// sameURL compares scheme, host and path, and refuses what else a URL may hold.
func sameURL(allowed, asked string) bool {
	a, err := url.Parse(strings.TrimRight(allowed, "/"))
	b, err2 := url.Parse(strings.TrimRight(asked, "/"))
	return err == nil && err2 == nil && b.User == nil && b.RawQuery == "" && b.Fragment == "" &&
		strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Host, b.Host) && a.Path == b.Path
}

func (s *Server) benchRoutes() {
	type input struct{ Body benchFields }
	op := operation("bench", "/api/v1/bench", tagMeasured, "Evaluate a service: live events, then the report")
	op = s.posted(op, http.StatusConflict)
	op.Description = "Answers in server-sent events: sample while a stage runs, stage as one ends, then result or error. Closing the connection ends the evaluation. " +
		"The service must be one that the server was started for with --bench-url; its key comes from the server's environment or a file."
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Example: benchExample}}}
	op.Responses = s.eventsAnswer(map[string]any{"sample": api.BenchSample{}, "stage": bench.Stage{}, "result": measured{}, "error": Problem{}})
	huma.Register(s.api, op, func(ctx context.Context, in *input) (*huma.StreamResponse, error) {
		c, err := in.Body.request(&s.options)
		if err != nil {
			return nil, err
		}
		if err := s.aloneNow(ctx); err != nil {
			return nil, err
		}
		if err := s.live.begin(); err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(h huma.Context) { s.measure(h, c) }}, nil
	})
	watch := operation("live", "/api/v1/runs/live", tagMeasured, "The evaluation under way, as events; 204 where there is none")
	watch.Description = "This server's own evaluation, or else one that `ridgeline bench` carries out in another process and keeps in the same file: of that, bench names it, sample tells of it once a second, and quiet says that its process tells nothing more."
	watch.Responses = s.eventsAnswer(map[string]any{"sample": api.BenchSample{}, "stage": bench.Stage{}, "bench": begun{}, "quiet": quiet{}, "end": ended{}})
	watch.Responses["204"] = &huma.Response{Description: "no evaluation is under way"}
	huma.Register(s.api, watch, func(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
		w, err := s.live.watch()
		if err != nil {
			return nil, err
		}
		if w != nil {
			return &huma.StreamResponse{Body: func(h huma.Context) { s.follow(h, w) }}, nil
		}
		other, err := s.elsewhere(ctx, 0)
		if err != nil {
			return nil, err
		}
		if other == nil {
			return &huma.StreamResponse{Body: func(h huma.Context) { h.SetStatus(http.StatusNoContent) }}, nil
		}
		if err := s.live.watchKept(); err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(h huma.Context) { s.followKept(h, other) }}, nil
	})
}

func (s *Server) eventsAnswer(data map[string]any) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {Description: "events", Content: map[string]*huma.MediaType{"text/event-stream": s.eventStream(data)}}}
}

// measure runs an evaluation; the client that started it ends it by going away.
func (s *Server) measure(h huma.Context, c *bench.Config) {
	over := sync.OnceFunc(s.live.end)
	defer over()
	ctx, cancel := context.WithCancel(h.Context())
	defer cancel()
	defer context.AfterFunc(s.gate.closing, cancel)()
	e := s.newEvents(h)
	defer e.tick.Stop()
	events := make(chan liveEvent, 256)
	type result struct {
		doc bench.Report
		err error
	}
	done := make(chan result, 1)
	var samples api.BenchSamples
	c.Record = func(r *bench.Record) error {
		samples.Add(r)
		return nil
	}
	go func() {
		doc, err := bench.Run(ctx, *c, func(x bench.Event) {
			if ev, ok := liveOf(&x); ok {
				s.live.tell(ev)
				select {
				case events <- ev:
				default: // the client does not keep up
				}
			}
		})
		done <- result{doc, err}
	}()
	for {
		select {
		case x := <-events:
			e.send(x.name, x.data)
		case <-e.tick.C:
			e.beat()
		case r := <-done:
			for len(events) > 0 {
				x := <-events
				e.send(x.name, x.data)
			}
			doc, err := s.kept(&r.doc, &samples, r.err)
			over() // whoever reads the result may start the next one
			if err != nil {
				e.send("error", asProblem(err))
				return
			}
			e.send("result", doc)
			return
		}
		if e.failed != nil {
			cancel()
		}
	}
}

// kept is the answer: the report, and where it was kept. What ran before the
// client went away is kept too. A report that cannot be kept is still answered.
func (s *Server) kept(doc *bench.Report, samples *api.BenchSamples, err error) (any, error) {
	var wrong *bench.InputError
	switch {
	case errors.As(err, &wrong):
		return nil, badInput(err)
	case err != nil:
		return nil, told(http.StatusBadGateway, err)
	}
	id, err := s.keep(doc, samples)
	if err != nil {
		return measured{Document: doc, NotKept: problem(http.StatusInternalServerError, "the run is not kept: "+err.Error()).coded(codeNotKept, nil)}, nil
	}
	return measured{ID: id, Document: doc}, nil
}
