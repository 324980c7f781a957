package web

import (
	"bytes"
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// noted keeps the status of an answer.
type noted struct {
	http.ResponseWriter
	status int
}

func (n *noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }

func (n *noted) WriteHeader(status int) {
	n.status = cmp.Or(n.status, status)
	n.ResponseWriter.WriteHeader(status)
}

// onlyDescribed is the server's handler, held to its description in every test of this package: an
// operation answers with no status that the document lacks.
func onlyDescribed(t *testing.T, s *Server) http.Handler {
	mux, known := http.NewServeMux(), map[string]*huma.Operation{}
	for path, item := range s.api.OpenAPI().Paths {
		for method, op := range map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post} {
			if op != nil {
				mux.Handle(method+" "+path, http.NotFoundHandler())
				known[method+" "+path] = op
			}
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := &noted{ResponseWriter: w}
		s.handler.ServeHTTP(n, r)
		_, pattern := mux.Handler(r)
		if op := known[pattern]; op != nil && op.Responses[strconv.Itoa(cmp.Or(n.status, http.StatusOK))] == nil {
			t.Errorf("%s answers with status %d, which its description lacks", pattern, n.status)
		}
	})
}

// Every operation says with which statuses the guard, the gate and its body are refused, and is refused with them.
func TestEveryStatusIsDescribed(t *testing.T) {
	const token = "a-token-of-a-test"
	s := New(Options{Token: token, Limits: Limits{Body: 4000, Turns: 1, Waiting: 1, Time: 100 * time.Millisecond}})
	h := serveOn(t, s)
	for range 1 + s.limits.Waiting { // nobody gets a turn any more
		s.gate.searches.waiting <- struct{}{}
	}
	for range 2 + s.limits.Waiting {
		s.gate.quick.waiting <- struct{}{}
	}
	for id, op := range operations(t) {
		send := func(body any, change func(*http.Request)) int {
			path := strings.NewReplacer("{id}", "1", "{name}", "nothing", "/compare", "/compare?a=1&b=2").Replace(op.Path)
			r := get(t, h.URL+path)
			if op.Method == http.MethodPost {
				r = post(t, h.URL+path, body)
			}
			r.Header.Set("Authorization", "Bearer "+token)
			if change != nil {
				change(r)
			}
			code, _, _ := fetch(t, r)
			return code
		}
		var own any = []byte(tinyConfig)
		if op.RequestBody != nil {
			if e := op.RequestBody.Content["application/json"].Example; e != nil {
				own = e
			}
		}
		want := map[int]int{
			http.StatusUnauthorized:       send(own, func(r *http.Request) { r.Header.Del("Authorization") }),
			http.StatusForbidden:          send(own, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }),
			http.StatusMisdirectedRequest: send(own, func(r *http.Request) { r.Host = "evil.example" }),
		}
		if id != "live" && id != "bench" { // which take no turn
			want[http.StatusServiceUnavailable] = send(own, nil)
		}
		if op.Method == http.MethodPost {
			want[http.StatusBadRequest] = send([]byte("no JSON"), nil)
			want[http.StatusUnsupportedMediaType] = send(own, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
			want[http.StatusRequestEntityTooLarge] = send(bytes.Repeat([]byte(" "), 5000), nil)
		}
		for status, got := range want {
			if got != status || op.Responses[strconv.Itoa(status)] == nil {
				t.Errorf("%s: status %d, want %d, described: %v", id, got, status, op.Responses[strconv.Itoa(status)] != nil)
			}
		}
	}
}

// A body that does not arrive is status 408, in words of this server.
func TestBodyThatDoesNotArrive(t *testing.T) {
	p := humaError(http.StatusRequestTimeout, "request body read timeout")
	if p.GetStatus() != http.StatusRequestTimeout || !strings.Contains(p.Error(), "send it again") {
		t.Error(p)
	}
}
