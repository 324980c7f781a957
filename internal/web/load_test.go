package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// longSearch takes seconds: nine million plans.
var longSearch = example{"model": "deepseek-v3", "cluster": "h800x2048", "global_batch": 15360, "seq": 4096, "precision": "fp8", "exhaustive": true}

// event reads the next server-sent event; comments are passed over.
func event(t *testing.T, r *bufio.Reader) (name, data string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case strings.HasPrefix(line, "event: "):
			name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		case line == "" && name != "":
			return name, data
		}
	}
}

// open starts a stream.
func open(t *testing.T, ctx context.Context, client *http.Client, url string, body example) *http.Response {
	t.Helper()
	r := post(t, url, body).WithContext(ctx)
	r.Header.Set("Accept", "text/event-stream")
	a, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Body.Close() })
	if kind := a.Header.Get("Content-Type"); a.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatalf("%d %s", a.StatusCode, kind)
	}
	return a
}

func TestEvents(t *testing.T) {
	h := serve(t, Options{})
	r := bufio.NewReader(open(t, t.Context(), h.Client(), h.URL+"/api/v1/train", trainExample).Body)
	for {
		name, data := event(t, r)
		if name == "progress" {
			continue
		}
		_, _, want := fetch(t, post(t, h.URL+"/api/v1/train", trainExample))
		if name != "result" || shapeOf(t, []byte(data)) != shapeOf(t, want) {
			t.Errorf("%s %.200s", name, data)
		}
		break
	}
	r = bufio.NewReader(open(t, t.Context(), h.Client(), h.URL+"/api/v1/train", example{"modle": 1}).Body)
	name, data := event(t, r)
	wantProblem(t, name, 422, []byte(data), 422, "modle", "did you mean")
	if name != "error" {
		t.Errorf("event %s", name)
	}
}

// A client that goes away gives its turn back: the next one is answered although
// there is one turn.
func TestClosedStreamCancels(t *testing.T) {
	h := serve(t, Options{Limits: Limits{Turns: 1}})
	ctx, cancel := context.WithCancel(t.Context())
	a := open(t, ctx, h.Client(), h.URL+"/api/v1/train", longSearch)
	if name, data := event(t, bufio.NewReader(a.Body)); name != "progress" {
		t.Fatalf("%s %s", name, data)
	}
	cancel()
	code, _, body := fetch(t, post(t, h.URL+"/api/v1/infer", inferExample))
	if code != 200 {
		t.Errorf("%d %s", code, body)
	}
}

// What is quick, such as a slider's answer, does not wait for searches.
func TestQuickAnswersPassSearches(t *testing.T) {
	h := serve(t, Options{Limits: Limits{Turns: 1}})
	one := priced(t, h.URL, "tp=2,pp=1,zero=1").Plan
	stated, plans := trainExample.with(example{"plan": one}), example{"plans": []any{one, "fsdp"}}
	stream := bufio.NewReader(open(t, t.Context(), h.Client(), h.URL+"/api/v1/train", longSearch).Body)
	if name, data := event(t, stream); name != "progress" {
		t.Fatalf("%s %s", name, data)
	}
	for path, body := range map[string]example{"train": stated.with(example{"alone": true}), "train/price": stated.without("plan").with(plans), "train/sweep": sweepExample.with(plans),
		"train/whynot": stated.with(example{"against": "fsdp"}), "train/timeline": stated, "train/explain": stated, "schedule": scheduleExample} {
		if code, _, b := fetch(t, post(t, h.URL+"/api/v1/"+path, body)); code != 200 {
			t.Errorf("%s: %d %s", path, code, b)
		}
	}
	if name, data := event(t, stream); name != "progress" {
		t.Errorf("the search was over before the quick answers: %s %.80s", name, data)
	}
}

// A plan that leaves most keys open is a search, whatever asks for it: it does not
// take the turns of what is quick.
func TestOpenPlansAreSearches(t *testing.T) {
	of := func(e example) fields {
		t.Helper()
		return fieldsOfExample(t, e).fields
	}
	for _, p := range []any{"mbs=1", "tp=8,pp=2", example{"mbs": 1}, example{"tp": 8, "pp": 2, "dp": 1}, nil} {
		if f := of(example{"plan": p, "plans": []any{"fsdp", p}}); f.stated("plan") || f.allStated("plans") {
			t.Errorf("%v is taken for one plan", p)
		}
	}
	for _, p := range []any{"fsdp", "fsdp,shard=8", "tp=8,pp=2,dp=1,ep=1,mbs=1,recompute=none", example{"tp": 8, "pp": 2, "dp": 1, "ep": 1, "mbs": 1, "recompute": "none"}} {
		if f := of(example{"plan": p, "plans": []any{"fsdp", p}}); !f.stated("plan") || !f.allStated("plans") {
			t.Errorf("%v is taken for a search", p)
		}
	}
	if of(example{}).stated("plan") || of(example{}).allStated("plans") {
		t.Error("no plan is taken for one")
	}
}

// Too many requests are told so, and the time of one is bounded.
func TestLimits(t *testing.T) {
	h := serve(t, Options{Limits: Limits{Turns: 1, Waiting: 1, Time: 300 * time.Millisecond}})
	codes := make(chan int)
	for range 8 {
		go func() {
			code, _, body := fetch(t, post(t, h.URL+"/api/v1/train", longSearch))
			if !strings.Contains(string(body), "passed 300ms") && !strings.Contains(string(body), "no turn came within 300ms") && !strings.Contains(string(body), "too many") {
				t.Errorf("%d %s", code, body)
			}
			codes <- code
		}()
	}
	for range 8 {
		if code := <-codes; code != 503 {
			t.Errorf("status %d", code)
		}
	}
}

// Fifty searches at once are all answered, and leave nothing behind.
func TestManySearches(t *testing.T) {
	s := New(Options{})
	h := httptest.NewServer(s.handler)
	before := runtime.NumGoroutine()
	client := h.Client()
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			body := trainExample.with(example{"global_batch": 64 + 16*(i%5), "plan": "pp=1"})
			path := "/api/v1/train"
			if i%5 == 4 {
				path, body = "/api/v1/infer", inferExample
			}
			r := post(t, h.URL+path, body)
			a, err := client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer a.Body.Close()
			if b, err := io.ReadAll(a.Body); err != nil || a.StatusCode != 200 {
				t.Errorf("search %d: %d %.200s %v", i, a.StatusCode, b, err)
			}
		})
	}
	wg.Wait()
	client.CloseIdleConnections()
	h.Close()
	s.Close()
	noneLeft(t, before)
}

// noneLeft waits until no more goroutines run than before.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			b := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, b[:runtime.Stack(b, true)])
		}
	}
}

// A server that is stopped during searches answers them before it ends, and leaves
// nothing behind.
func TestStopDuringSearches(t *testing.T) {
	client := &http.Client{Transport: &http.Transport{}}
	before := runtime.NumGoroutine()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	s := New(Options{Limits: Limits{Turns: 1}})
	go func() { ended <- s.Serve(ctx, l) }()
	stream := bufio.NewReader(open(t, t.Context(), client, url+"/api/v1/train", longSearch).Body)
	if name, data := event(t, stream); name != "progress" {
		t.Fatalf("%s %s", name, data)
	}
	waits := make(chan []byte, 1) // for its turn
	go func() {
		a, err := client.Do(post(t, url+"/api/v1/infer", inferExample))
		if err != nil {
			t.Error(err)
			waits <- nil
			return
		}
		defer a.Body.Close()
		body, _ := io.ReadAll(a.Body) // what is lost is missed below
		waits <- body
	}()
	for len(s.gate.searches.waiting) < 2 {
		time.Sleep(time.Millisecond)
	}
	stop()
	name, data := event(t, stream)
	for name == "progress" {
		name, data = event(t, stream)
	}
	wantProblem(t, name, 503, []byte(data), 503, "", "stopping")
	wantProblem(t, "the one that waits", 503, <-waits, 503, "", "stopping")
	if err := <-ended; err != nil && !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve: %v", err)
	}
	if rest, err := io.ReadAll(stream); err != nil || len(rest) > 0 {
		t.Errorf("after the end: %q, %v", rest, err)
	}
	client.CloseIdleConnections()
	noneLeft(t, before)
}

// without is the example without one of its members.
func (e example) without(name string) example {
	rest := maps.Clone(e)
	delete(rest, name)
	return rest
}
