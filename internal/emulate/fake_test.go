package emulate

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// step prices every step alike, in seconds.
type step float64

func (s step) Step(*infer.Batch) infer.Step { return infer.Step{Total: unit.Seconds(s)} }

// service is a small engine whose steps take so many seconds.
func service(seconds float64) *serve.Service {
	return &serve.Service{Engine: serve.Engine{Stepper: step(seconds), MaxSeqs: 64, MaxTokens: 512, BlockSize: 16, Blocks: 4000,
		MaxContext: 4096, PrefixCache: true, Ahead: true}}
}

// running is a server under test.
type running struct {
	*Server
	url  string
	stop func() // and wait until it has

	mu      sync.Mutex
	records []*Record
}

// start serves until the test ends; the listener is a real one, since faults close
// connections.
func start(t testing.TB, c Config) *running {
	t.Helper()
	r := &running{}
	c.Observe = func(x *Record) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.records = append(r.records, x)
	}
	if c.Model == "" {
		c.Model = "tiny"
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.Server, r.url = s, "http://"+l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// all are the records once the server has stopped.
func (r *running) all() []*Record {
	r.stop()
	return r.records
}

// reply is what a client got.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

func (r *running) post(t testing.TB, path, body string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(b), err}
}

// event is what tests look at in a chunk.
type event struct {
	ID      string `json:"id"`
	Choices []struct {
		Text  string `json:"text"`
		Delta struct {
			Role      string `json:"role"`
			Content   string `json:"content"`
			Reasoning string `json:"reasoning_content"`
		} `json:"delta"`
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
		Finish *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	} `json:"usage"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// events reads a stream; done tells whether [DONE] was its end.
func events(t testing.TB, body string) (list []event, done bool) {
	t.Helper()
	for _, part := range strings.Split(body, "\n\n") {
		if part == "" {
			continue
		}
		data, ok := strings.CutPrefix(part, "data: ")
		switch {
		case !ok || done:
			t.Fatalf("%q is no event, or one after the end", part)
		case data == "[DONE]":
			done = true
		default:
			var e event
			d := json.NewDecoder(bytes.NewReader([]byte(data)))
			if err := d.Decode(&e); err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			list = append(list, e)
		}
	}
	return list, done
}
