package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/net/netutil"

	"github.com/ridgeline/ridgeline/internal/store"
)

// Options of a server; zero values are the defaults.
type Options struct {
	Token   string   // that requests to the API must bear; "" = none
	Hosts   []string // names that Host may bear, beside the address and localhost
	Version string   // of the program, for the API's description
	Limits  Limits
	Store   *store.DB // of measured runs, nil = none are kept
	// Services are those that the page may evaluate.
	Services Services
}

// Server answers the page and the API.
type Server struct {
	options Options
	limits  Limits
	gate    *gate
	held    held
	api     huma.API
	handler http.Handler
	live    live
	stop    context.CancelFunc
}

// New builds a server; Close ends what it computes.
func New(o Options) *Server {
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{options: o, limits: o.Limits.filled(), stop: stop}
	s.gate = newGate(ctx, s.limits)
	s.live.most, s.held.most = s.limits.Watchers, s.limits.Held
	mux := http.NewServeMux()
	s.api = humago.New(mux, describe(o))
	s.api.UseMiddleware(askedWell, writtenPlainly)
	s.routes()
	sayNulls(s.api.OpenAPI().Components.Schemas)
	servePage(mux, s.api.OpenAPI())
	g := &guard{next: mux}
	for _, h := range append(loopbackHosts, o.Hosts...) {
		g.hosts = append(g.hosts, strings.ToLower(strings.TrimSuffix(h, ".")))
	}
	if o.Token != "" {
		sum := sha256.Sum256([]byte(o.Token))
		g.token = &sum
	}
	s.handler = g
	return s
}

// ownErrors words huma's errors as everything else's; huma has one setting for all
// servers of a process.
var ownErrors = sync.OnceFunc(func() { huma.NewError = humaError })

// describe is the head of the API's description.
func describe(o Options) huma.Config {
	ownErrors()
	c := huma.DefaultConfig("Ridgeline", o.Version)
	c.Info.Description = "Questions about training and serving large language models, as the command line asks them: fields are its flags with underscores, answers its --json documents. A query parameter that a path does not have, or has once and is given twice, is refused with status 400."
	c.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", "" // servePage has them
	c.Tags = groups
	c.CreateHooks = nil // no links to schemas in answers: they are the command line's documents
	if o.Token != "" {
		c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
		c.Security = []map[string][]string{{"token": {}}}
	}
	return c
}

// Close ends what is being computed: its requests are told that the server stops.
func (s *Server) Close() { s.stop() }

// stopTime is what open connections get to be told that the server stops.
const stopTime = 5 * time.Second

// Serve answers on l until ctx ends, then closes in good order: what is computed
// is cut, its requests are answered, idle connections are closed, and after
// stopTime those that are still being read.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      s.limits.Time + time.Minute, // streams set their own per event
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // of connections that break: they may name anything a client sent
	}
	var unused sync.Map // connections that sent no request yet, as browsers open them ahead
	h.ConnState = func(c net.Conn, to http.ConnState) {
		if to != http.StateNew {
			unused.Delete(c)
			return
		}
		if unused.Store(c, nil); ctx.Err() != nil {
			_ = c.Close() // accepted as the server stops
		}
	}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(netutil.LimitListener(l, s.limits.Connections)) }()
	select {
	case err := <-failed:
		s.Close()
		return err
	case <-ctx.Done():
	}
	s.Close()
	unused.Range(func(c, _ any) bool {
		_ = c.(net.Conn).Close() // Shutdown would wait 5 s for its request
		return true
	})
	stop, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	err := h.Shutdown(stop)
	if errors.Is(err, context.DeadlineExceeded) {
		return h.Close() // who reads so slowly is cut: that is no failure of the stop
	}
	return err
}
