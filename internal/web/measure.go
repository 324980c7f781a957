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

// sample is the state of an evaluation under way.
type sample struct {
	Stage    int     `json:"stage"`
	Stages   int     `json:"stages" doc:"0 = not known, as in a search"`
	Load     string  `json:"load"`
	Level    int     `json:"concurrency" doc:"of a closed loop, else 0"`
	Asked    float64 `json:"rate" doc:"requests/s of an open loop, else 0"`
	Seconds  float64 `json:"t" doc:"since the stage began"`
	Total    int     `json:"total" doc:"requests of the stage, 0 = bounded by time"`
	Sent     int     `json:"sent"`
	OK       int     `json:"ok"`
	Failed   int     `json:"failed"`
	InFlight int     `json:"in_flight"`
	Rate     float64 `json:"output_tokens_per_second"`
}

// measured is the answer of an evaluation.
type measured struct {
	ID       string        `json:"id" doc:"of the run that was kept, empty where none are"`
	Document *bench.Report `json:"document" doc:"as bench --json prints it"`
}

// live is the evaluation under way, of which there is one at most: two would
// measure each other.
type live struct {
	mu       sync.Mutex
	on       bool
	watchers map[chan liveEvent]struct{}
}

// ended is all there is to say to who follows an evaluation that is over.
type ended struct{}

type liveEvent struct {
	name string
	data any
}

// begin takes the only place.
func (l *live) begin() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.on {
		return problem(http.StatusConflict, "an evaluation is under way, and two would measure each other: wait for its end")
	}
	l.on = true
	return nil
}

// end gives the place back; watchers are told.
func (l *live) end() {
	l.tell(liveEvent{"end", ended{}})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on = false
	for w := range l.watchers {
		close(w)
	}
	l.watchers = nil
}

// tell hands an event on; a watcher that does not keep up misses some.
func (l *live) tell(e liveEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.watchers {
		select {
		case w <- e:
		default:
		}
	}
}

// watch gets the events from now on; ok is false where nothing is under way.
func (l *live) watch() (w chan liveEvent, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.on {
		return nil, false
	}
	w = make(chan liveEvent, 256)
	if l.watchers == nil {
		l.watchers = map[chan liveEvent]struct{}{}
	}
	l.watchers[w] = struct{}{}
	return w, true
}

func (l *live) leave(w chan liveEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watchers, w)
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
		return nil, problem(http.StatusForbidden, "this server evaluates no services: start it with `ridgeline web --bench-url URL`")
	}
	if !slices.ContainsFunc(o.Services.URLs, func(u string) bool { return sameURL(u, c.Service.URL) }) {
		return nil, &Problem{Title: http.StatusText(http.StatusForbidden), Status: http.StatusForbidden, Field: "url",
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
	op.Method, op.SkipValidateBody, op.MaxBodyBytes = http.MethodPost, true, s.limits.Body
	op.Description = "Answers in server-sent events: sample while a stage runs, stage as one ends, then result or error. Closing the connection ends the evaluation. " +
		"The service must be one that the server was started for with --bench-url; its key comes from the server's environment or a file."
	op.Errors = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusUnprocessableEntity}
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Example: benchExample}}}
	op.Responses = s.eventsAnswer(map[string]any{"sample": sample{}, "stage": bench.Stage{}, "result": measured{}, "error": Problem{}})
	huma.Register(s.api, op, func(ctx context.Context, in *input) (*huma.StreamResponse, error) {
		c, err := in.Body.request(&s.options)
		if err != nil {
			return nil, err
		}
		if err := s.live.begin(); err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(h huma.Context) { s.measure(h, c) }}, nil
	})
	watch := operation("live", "/api/v1/runs/live", tagMeasured, "The evaluation under way, as events; 204 where there is none")
	watch.Responses = s.eventsAnswer(map[string]any{"sample": sample{}, "stage": bench.Stage{}, "end": ended{}})
	watch.Responses["204"] = &huma.Response{Description: "no evaluation is under way"}
	huma.Register(s.api, watch, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: s.follow}, nil
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
	e := newEvents(h)
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
			e.finish(doc, err)
			return
		}
		if e.failed != nil {
			cancel()
		}
	}
}

// kept is the answer: the report, and where it was kept. What ran before the
// client went away is kept too.
func (s *Server) kept(doc *bench.Report, samples *api.BenchSamples, err error) (any, error) {
	var wrong *bench.InputError
	switch {
	case errors.As(err, &wrong):
		return nil, badInput(err)
	case err != nil:
		return nil, problem(http.StatusBadGateway, err.Error())
	}
	id, err := s.keep(doc, samples)
	if err != nil {
		return nil, problem(http.StatusInternalServerError, "the run could not be kept: "+err.Error())
	}
	return measured{id, doc}, nil
}

func liveOf(x *bench.Event) (liveEvent, bool) {
	switch x.Phase {
	case bench.StageDone:
		return liveEvent{"stage", x.Finished}, true
	case bench.Measuring:
		concurrency, rate := 0, 0.0
		switch x.Level.Mode {
		case bench.Closed:
			concurrency = x.Level.Concurrency
		case bench.Open:
			rate = x.Level.Arrival.Rate
		}
		return liveEvent{"sample", sample{x.Stage, x.Stages, x.Level.String(), concurrency, rate, x.Elapsed.Seconds(), x.Total, x.Sent, x.OK, x.Failed, x.InFlight, x.TokenRate}}, true
	}
	return liveEvent{}, false
}

// follow hands the events of the evaluation under way on.
func (s *Server) follow(h huma.Context) {
	w, ok := s.live.watch()
	if !ok {
		h.SetStatus(http.StatusNoContent)
		return
	}
	defer s.live.leave(w)
	e := newEvents(h)
	defer e.tick.Stop()
	for e.failed == nil {
		select {
		case x, ok := <-w:
			if !ok {
				return
			}
			e.send(x.name, x.data)
		case <-e.tick.C:
			e.beat()
		case <-h.Context().Done():
			return
		case <-s.gate.closing.Done():
			return
		}
	}
}
