package bench

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ridgeline/ridgeline/internal/openai"
)

// run is one evaluation under way.
type run struct {
	c        *Config
	clients  map[string]*openai.Client // by the delay on the way
	start    time.Time
	maker    *maker
	live     *live
	health   *health
	sink     *sink
	report   *Report
	progress func(Event)
}

// Run carries out an evaluation. progress, which may be nil, is called from one
// goroutine a few times per second and at the end of each stage. When the context
// ends, requests in flight are given up and the report of what ran is returned,
// marked partial. An error means that nothing was measured: bad settings, or a
// service that does not answer the first question.
func Run(ctx context.Context, config Config, progress func(Event)) (Report, error) {
	c := config.filled()
	if err := c.check(); err != nil {
		return Report{}, &InputError{err}
	}
	if c.Nonce == "" {
		var b [8]byte
		rand.Read(b[:]) // never fails (crypto/rand)
		c.Nonce = hex.EncodeToString(b[:])
	}
	if progress == nil {
		progress = func(Event) {}
	}
	r := &run{c: &c, clients: map[string]*openai.Client{}, start: time.Now().Add(-time.Millisecond), progress: progress, report: newReport(&c)}
	defer r.close()
	if err := r.connect(); err != nil {
		return Report{}, &InputError{err}
	}
	if err := r.prepare(ctx); err != nil {
		return Report{}, err
	}
	r.sink = newSink(c.Record)
	r.live = newLive(r)
	r.health = watch()
	if c.Search != nil {
		r.search(ctx)
	} else {
		for i, l := range c.Levels {
			if ctx.Err() != nil {
				break
			}
			r.stage(ctx, i, len(c.Levels), l)
		}
	}
	r.health.stop()
	r.live.stop()
	if err := r.sink.close(); err != nil {
		r.report.Unwritten = err.Error()
	}
	r.report.Partial = ctx.Err() != nil
	r.report.Seconds = time.Since(r.start).Seconds()
	return *r.report, nil
}

// InputError is a mistake in the settings.
type InputError struct{ err error }

func (e *InputError) Error() string { return e.err.Error() }
func (e *InputError) Unwrap() error { return e.err }

func newReport(c *Config) *Report {
	return &Report{URL: c.Service.URL, Model: c.Service.Model, Endpoint: string(c.Service.Endpoint), Stream: c.Stream,
		Started: time.Now().UTC().Format(time.RFC3339), Worker: c.Worker, Nonce: c.Nonce, Seed: c.Seed, Protocol: c.Protocol,
		Load: c.load(), SLO: c.SLO, Labels: c.Labels, Stages: []Stage{}, Warnings: []string{}, NetDelay: []string{},
		Client: Machine{Version: c.Version, OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0), Governor: governor()}}
}

// load says in words what is put on the service.
func (c *Config) load() string {
	text := ""
	switch {
	case c.Dialogues != nil:
		text = fmt.Sprintf("%d dialogues", len(c.Dialogues))
		if longest := c.longestDialogue(); c.Turns == 1 && longest > 1 {
			text += fmt.Sprintf(", the first question of each: --turns %d asks them all", longest)
		}
	case c.Trace != nil:
		text = "trace " + c.Trace.Name
	default:
		text = fmt.Sprintf("%v input", c.Input)
		if c.Output.High > 0 {
			text += fmt.Sprintf(" and %v output", c.Output)
		}
		text += " tokens"
	}
	if c.Turns > 1 {
		text += fmt.Sprintf(", %d turns", c.Turns)
	}
	return text
}

// connect makes a client, and one for every delay on the way.
func (r *run) connect() error {
	for _, l := range append([]Level{{}}, r.c.Levels...) {
		if r.clients[l.NetDelay] != nil {
			continue
		}
		s := r.c.Service
		if l.Dial != nil {
			s.Dial = l.Dial
		}
		k, err := openai.New(s, r.start)
		if err != nil {
			return err
		}
		r.clients[l.NetDelay] = k
	}
	return nil
}

func (r *run) close() {
	for _, k := range r.clients {
		k.Close()
	}
}

// client is that of a level.
func (r *run) client(l Level) *openai.Client { return r.clients[l.NetDelay] }

func (r *run) now() Timestamp { return time.Since(r.start) }

// stage runs one level and adds it to the report.
func (r *run) stage(ctx context.Context, i, of int, l Level) *Stage {
	runtime.GC() // of the stage before: its garbage is not this one's
	k := &keeper{run: r, origin: r.origin(l), stage: i}
	before := r.scrape(ctx)
	r.health.begin()
	r.live.begin(i, of, l)
	w := r.sample()
	unsent := r.load(ctx, i, l, k)
	server := w.finish()
	r.live.end()
	s := NewStage(k.records, r.c.SLO)
	s.Mode, s.Unsent, s.Partial, s.NetDelay = l.Mode, &unsent, ctx.Err() != nil, l.NetDelay
	if l.Mode != Closed {
		s.Concurrency = r.c.Cap
	}
	s.Client = r.health.judge(&s)
	if after := r.scrape(context.WithoutCancel(ctx)); server != nil {
		server.between(before, after)
		s.Server = server
	}
	s.Notes = warnings(r.c, &s, k.records)
	s.Warnings = s.Notes.Texts()
	r.report.Stages = append(r.report.Stages, s)
	if l.NetDelay != "" {
		r.report.NetDelay = append(r.report.NetDelay, l.NetDelay)
	}
	r.live.finished(&s)
	return &r.report.Stages[len(r.report.Stages)-1]
}

func (r *run) origin(l Level) *Origin {
	o := &Origin{Run: r.c.Nonce, Worker: r.c.Worker, URL: r.c.Service.URL, Model: r.c.Service.Model, Endpoint: string(r.c.Service.Endpoint),
		Started: float64(r.start.UnixNano()) / 1e9, Mode: l.Mode, NetDelay: l.NetDelay}
	switch l.Mode {
	case Closed:
		o.Level = float64(l.Concurrency)
	case Open:
		o.Level, o.Arrival = l.Arrival.Rate, l.Arrival.String()
	case Traced:
		times, _ := r.arrivals(0, l)
		if n := len(times); n > 1 && times[n-1] > times[0] {
			o.Level = float64(n-1) / (times[n-1] - times[0]).Seconds()
		}
	}
	return o
}

// load puts the level on the service and returns once every request has ended;
// unsent are those that were due and never sent.
func (r *run) load(ctx context.Context, i int, l Level, k *keeper) (unsent int) {
	if l.Mode == Closed {
		r.closed(ctx, i, l, k)
		return 0
	}
	return r.open(ctx, i, l, k)
}

// Failures are the classes of a summary, most frequent first.
func (m *Summary) Failures() []string {
	var names []string
	for c := range m.Classes {
		names = append(names, c)
	}
	slices.SortFunc(names, func(a, b string) int {
		if m.Classes[a] != m.Classes[b] {
			return m.Classes[b] - m.Classes[a]
		}
		return strings.Compare(a, b)
	})
	return names
}
