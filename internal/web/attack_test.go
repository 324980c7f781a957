package web

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// raw sends bytes that no HTTP client would and returns the status.
func raw(t *testing.T, h *httptest.Server, text string) int {
	t.Helper()
	c, err := net.Dial("tcp", h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, strings.ReplaceAll(text, "ADDRESS", h.Listener.Addr().String())); err != nil {
		t.Fatal(err)
	}
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	defer a.Body.Close()
	return a.StatusCode
}

// Spellings of Host and Origin that browsers or proxies may let through do not
// pass for this server's own.
func TestForgedHosts(t *testing.T) {
	h := serve(t, Options{})
	for _, host := range []string{"127.1", "2130706433", "0x7f.0.0.1", "127.0.0.1.evil.example", "0.0.0.0", "[::]", "localhost.evil.example", "evil.example#localhost", "", "localhost, evil.example"} {
		if code := raw(t, h, "GET /api/v1/gpus/h800 HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n"); code != 421 && code != 400 {
			t.Errorf("Host %q: %d", host, code)
		}
	}
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"no Host":                              {"GET /api/v1/gpus/h800 HTTP/1.0\r\n\r\n", 421},
		"two Hosts":                            {"GET /api/v1/gpus/h800 HTTP/1.1\r\nHost: ADDRESS\r\nHost: evil.example\r\n\r\n", 400},
		"another Host in the URI":              {"GET http://evil.example/api/v1/gpus/h800 HTTP/1.1\r\nHost: ADDRESS\r\n\r\n", 421},
		"an Origin of another scheme and port": {"GET /api/v1/gpus/h800 HTTP/1.1\r\nHost: ADDRESS\r\nOrigin: ftp://ADDRESS\r\n\r\n", 403},
		"an Origin with a user":                {"GET /api/v1/gpus/h800 HTTP/1.1\r\nHost: ADDRESS\r\nOrigin: http://ADDRESS@evil.example\r\n\r\n", 403},
		"two Origins, the second another":      {"GET /api/v1/gpus/h800 HTTP/1.1\r\nHost: ADDRESS\r\nOrigin: http://ADDRESS\r\nOrigin: http://evil.example\r\n\r\n", 403},
		"a page of another port":               {"GET /api/v1/gpus/h800 HTTP/1.1\r\nHost: ADDRESS\r\nSec-Fetch-Site: same-site\r\n\r\n", 403},
		"a broken chunk":                       {"POST /api/v1/train HTTP/1.1\r\nHost: ADDRESS\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
		"itself":                               {"GET /api/v1/gpus/h800 HTTP/1.1\r\nHost: ADDRESS\r\nOrigin: http://ADDRESS\r\n\r\n", 200},
	} {
		if code := raw(t, h, c.text); code != c.want {
			t.Errorf("%s: %d, want %d", name, code, c.want)
		}
	}
}

// Spellings of a path that leads out of the page's files find nothing.
func TestPathsStayInside(t *testing.T) {
	h := serve(t, Options{})
	for _, path := range []string{"/..%2f..%2fgo.mod", "/%2e%2e/%2e%2e/go.mod", "/assets/..%5c..%5cgo.mod", "/assets/%2e%2e%2f%2e%2e%2fserver.go", "/index.html%00.js", "/assets/",
		"/dist/index.html", "/pages/docs.js", "/.git/config", "/api/v1/models/..%2f..%2fgo.mod", "/api/v1/models/%2Fetc%2Fpasswd", "/api/v1/clusters/..%2f..%2fcluster.yaml",
		"/api/v1/clusters/%2Fetc%2Fpasswd", "/api/v1/gpus/%00", "/api/v1/runs/..%2f..%2fruns.db"} {
		code, head, body := fetch(t, get(t, h.URL+path))
		if code != 404 || head.Get("Content-Type") != "application/problem+json" || bytes.Contains(body, []byte("root:")) || bytes.Contains(body, []byte("module ")) {
			t.Errorf("%s: %d %s %.100s", path, code, head.Get("Content-Type"), body)
		}
	}
}

// Bodies that would cost more than they may are refused at once.
func TestCostlyBodies(t *testing.T) {
	h := serve(t, Options{})
	deep := func(open, close string, n int) string {
		return strings.Repeat(open, n) + "1" + strings.Repeat(close, n)
	}
	train := `{"model":"llama-3.1-8b","cluster":"h100x16","global_batch":128,"seq":8192`
	for name, c := range map[string]struct {
		path, body string
		status     int
	}{
		"deep lists":           {"train", deep("[", "]", 100_000), 400},
		"deep objects":         {"train", deep(`{"model":`, "}", 50_000), 400},
		"a deep config":        {"models/inspect", deep(`{"a":`, "}", 9_000), 422},
		"a deep plan":          {"train", train + `,"plan":` + deep(`{"a":`, "}", 9_000) + "}", 422},
		"deep lists in a plan": {"train/price", train + `,"plans":` + deep("[", "]", 9_000) + "}", 422},
		"too many fields":      {"train", "{" + strings.Repeat(`"x":1,`, 20_000) + `"y":1}`, 422},
		"too many clusters":    {"infer", `{"model":"llama-3.1-8b","isl":1,"osl":1,"cluster":["h100x8"` + strings.Repeat(`,"h100x8"`, 20_000) + "]}", 422},
		"too many loads":       {"infer", `{"model":"llama-3.1-8b","isl":1,"osl":1,"cluster":"h100x8","concurrency":"` + strings.Repeat("1,", 20_000) + `1"}`, 422},
		"too many plans":       {"train/price", train + `,"plans":["fsdp"` + strings.Repeat(`,"fsdp"`, 10_000) + "]}", 422},
		"too many passes":      {"schedule", `{"name":"1f1b","stages":1024,"microbatches":1000,"f":"10ms"}`, 422},
		"too many requests":    {"simulate", `{"model":"llama-3.1-8b","cluster":"h100x1","plan":"tp=1","rate":4,"isl":512,"osl":64,"requests":20001}`, 422},
		"too many layers":      {"models/inspect", strings.Replace(tinyConfig, `"num_hidden_layers":2`, `"num_hidden_layers":1000000000`, 1), 422},
		"too many GPUs":        {"train", strings.Replace(train, "h100x16", "h100x1000000000", 1) + "}", 422},
		"not UTF-8":            {"train", "{\"model\":\"\xff\xfe\"}", 422},
	} {
		code, _, body := fetch(t, post(t, h.URL+"/api/v1/"+c.path, []byte(c.body)))
		if code != c.status || len(body) > 2000 {
			t.Errorf("%s: %d, want %d: %.300s", name, code, c.status, body)
		}
	}
}

// A body whose size nobody states is cut where the limit is.
func TestEndlessBody(t *testing.T) {
	h := serve(t, Options{Limits: Limits{Body: 4096}})
	var sent atomic.Int64
	body := io.MultiReader(strings.NewReader(`{"model":"`), readerFunc(func(b []byte) (int, error) {
		sent.Add(int64(len(b)))
		for i := range b {
			b[i] = 'x'
		}
		return len(b), nil
	}))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+"/api/v1/train", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("%v after %d bytes", err, sent.Load())
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusRequestEntityTooLarge || sent.Load() > 16<<20 {
		t.Errorf("%d after %d bytes", a.StatusCode, sent.Load())
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// A defect on the goroutine of a stream is an event, and the server goes on.
func TestDefectsOfStreams(t *testing.T) {
	s := New(Options{})
	add(s, computed[trainFields]{op: operation("defect", "/api/v1/defect", tagTraining, "a defect"), document: Done{}, answer: func(context.Context, *trainFields, progress) (any, error) {
		panic("out of range")
	}})
	h := httptest.NewServer(s.handler)
	defer h.Close()
	defer s.Close()
	name, data := event(t, bufio.NewReader(open(t, t.Context(), h.Client(), h.URL+"/api/v1/defect", example{}).Body))
	wantProblem(t, "the stream", 500, []byte(data), 500, "", "a defect of Ridgeline: out of range")
	if name != "error" {
		t.Errorf("event %s", name)
	}
	code, _, b := fetch(t, post(t, h.URL+"/api/v1/defect", example{}))
	wantProblem(t, "the answer", code, b, 500, "", "a defect of Ridgeline: out of range")
	if code, _, _ := fetch(t, get(t, h.URL+"/api/v1/gpus/h800")); code != 200 {
		t.Errorf("after it: %d", code)
	}
	if n := len(s.gate.searches.turns); n != 0 {
		t.Errorf("%d turns were not given back", n)
	}
}

// Where the runs are kept is nobody's to know.
func TestErrorsNameNoPath(t *testing.T) {
	db, file := database(t)
	db.Close()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	h := serve(t, Options{Store: db})
	for _, path := range []string{"runs", "runs/1", "runs/compare?a=1&b=2"} {
		code, _, body := fetch(t, get(t, h.URL+"/api/v1/"+path))
		if code != 500 || bytes.Contains(body, []byte(filepath.Dir(file))) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}
