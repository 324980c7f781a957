package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ridgeline/ridgeline/internal/note"
)

// serve starts a server for the test.
func serve(t *testing.T, o Options) *httptest.Server {
	t.Helper()
	return serveOn(t, New(o))
}

func serveOn(t *testing.T, s *Server) *httptest.Server {
	t.Helper()
	h := httptest.NewServer(onlyDescribed(t, s))
	t.Cleanup(func() {
		s.Close()
		h.Close()
	})
	return h
}

// fetch sends a request and reads the whole answer.
func fetch(t testing.TB, r *http.Request) (int, http.Header, []byte) {
	t.Helper()
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, a.Header, b
}

func get(t testing.TB, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func post(t testing.TB, url string, body any) *http.Request {
	t.Helper()
	b, ok := body.([]byte)
	if !ok {
		var err error
		if b, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}

func fieldsOfExample(t *testing.T, e example) (f trainFields) {
	t.Helper()
	b, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wantProblem holds an answer against status, field and a part of its detail.
func wantProblem(t testing.TB, what string, code int, body []byte, status int, field, part string) {
	t.Helper()
	var p Problem
	if err := json.Unmarshal(body, &p); err != nil {
		t.Fatalf("%s: %d %s: %v", what, code, body, err)
	}
	if code != status || p.Status != status || p.Field != field || !strings.Contains(p.Detail, part) || strings.ContainsAny(p.Detail, "\n\r") {
		t.Errorf("%s: %d %+v, want status %d, field %q, detail with %q on one line", what, code, p, status, field, part)
	}
}

// Requests are answered only under a name of this server, from its own pages.
func TestHostAndOrigin(t *testing.T) {
	h := serve(t, Options{Hosts: []string{"Planner.example"}})
	port := h.URL[strings.LastIndex(h.URL, ":"):]
	for _, c := range []struct {
		name, host string
		header     [2]string
		want       int
	}{
		{name: "the address", want: 200},
		{name: "localhost", host: "localhost" + port, want: 200},
		{name: "localhost with a dot", host: "localhost." + port, want: 200},
		{name: "an allowed name", host: "planner.example", want: 200},
		{name: "a rebound name", host: "evil.example", want: 421},
		{name: "a rebound name with the port", host: "evil.example" + port, want: 421},
		{name: "a name that ends as an allowed one", host: "evil.planner.example", want: 421},
		{name: "another address", host: "192.0.2.1" + port, want: 421},
		{name: "another loopback address", host: "127.0.0.2" + port, want: 421},
		{name: "a host with a user", host: "localhost@evil.example", want: 421},
		{name: "a host with a path", host: "localhost/evil.example", want: 421},
		{name: "its own origin", header: [2]string{"Origin", h.URL}, want: 200},
		{name: "another origin", header: [2]string{"Origin", "http://evil.example"}, want: 403},
		{name: "the null origin", header: [2]string{"Origin", "null"}, want: 403},
		{name: "another port of this machine", header: [2]string{"Origin", "http://127.0.0.1:1"}, want: 403},
		{name: "another site, without Origin", header: [2]string{"Sec-Fetch-Site", "cross-site"}, want: 403},
		{name: "typed in", header: [2]string{"Sec-Fetch-Site", "none"}, want: 200},
	} {
		r := get(t, h.URL+"/api/v1/gpus/h800")
		r.Host = c.host
		if c.header[0] != "" {
			r.Header.Set(c.header[0], c.header[1])
		}
		code, head, body := fetch(t, r)
		if code != c.want {
			t.Errorf("%s: status %d, want %d: %s", c.name, code, c.want, body)
		}
		if code != 400 && head.Get("Content-Security-Policy") != policy {
			t.Errorf("%s: without the policy", c.name)
		}
	}
}

// A link from another site may open the page, never the API.
func TestLinkFromElsewhere(t *testing.T) {
	h := serve(t, Options{})
	for path, want := range map[string]int{"/": 200, "/api/v1/gpus": 403} {
		r := get(t, h.URL+path)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		if code, _, _ := fetch(t, r); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
}

func TestToken(t *testing.T) {
	const token = "correct horse"
	h := serve(t, Options{Token: token})
	for _, c := range []struct {
		name, path, auth string
		want             int
	}{
		{"none", "/api/v1/gpus", "", 401},
		{"right", "/api/v1/gpus", "Bearer " + token, 200},
		{"scheme in lower case", "/api/v1/gpus", "bearer " + token, 200},
		{"wrong", "/api/v1/gpus", "Bearer correct horsf", 401},
		{"a part", "/api/v1/gpus", "Bearer correct", 401},
		{"another scheme", "/api/v1/gpus", "Basic " + token, 401},
		{"in the URL", "/api/v1/gpus?token=correct+horse&access_token=correct+horse", "", 401},
		{"the page", "/", "", 200},
		{"the description", "/openapi.json", "", 200},
	} {
		r := get(t, h.URL+c.path)
		if c.auth != "" {
			r.Header.Set("Authorization", c.auth)
		}
		code, head, body := fetch(t, r)
		if code != c.want {
			t.Errorf("%s: %d, want %d", c.name, code, c.want)
		}
		if code == 401 {
			wantProblem(t, c.name, code, body, 401, "", "Authorization: Bearer TOKEN")
			if head.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: no challenge", c.name)
			}
		}
		if bytes.Contains(body, []byte(token)) {
			t.Errorf("%s: the token is in the answer", c.name)
		}
	}
}

// Names that the server's disk knows are not names of the API.
func TestNoPathIsOpened(t *testing.T) {
	h := serve(t, Options{})
	dir := t.TempDir()
	config, cluster := filepath.Join(dir, "config.json"), filepath.Join(dir, "c.yaml")
	for name, text := range map[string]string{config: `{"model_type":"secret-in-the-file"}`, cluster: "device: secret-in-the-file\ngpus: 8\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for field, path := range map[string]string{"model": config, "cluster": cluster} {
		for _, name := range []string{path, "file://" + path, dir, "./" + filepath.Base(path), path + ".gguf", "-"} {
			code, _, body := fetch(t, post(t, h.URL+"/api/v1/train", trainExample.with(example{field: name})))
			wantProblem(t, field+" "+name, code, body, 422, field, "")
			if bytes.Contains(body, []byte("secret-in-the-file")) {
				t.Errorf("%s %s: the file was read: %s", field, name, body)
			}
		}
	}
	for _, flag := range []string{"trace", "configs", "records"} {
		code, _, body := fetch(t, post(t, h.URL+"/api/v1/simulate", simulateExample.with(example{flag: config})))
		wantProblem(t, flag, code, body, 422, flag, "unknown field")
	}
	for _, path := range []string{"/../web_test.go", "/..%2f..%2fgo.mod", "/etc/passwd", "/assets/../../go.mod", "/.keep", "/unbuilt.html", "/pages/docs.html"} {
		if code, _, _ := fetch(t, get(t, h.URL+path)); code != 404 {
			t.Errorf("%s: %d, want 404", path, code)
		}
	}
}

func TestPage(t *testing.T) {
	h := serve(t, Options{})
	for path, kind := range map[string]string{"/": "text/html; charset=utf-8", "/docs": "text/html; charset=utf-8", "/docs.js": "text/javascript; charset=utf-8",
		"/docs.css": "text/css; charset=utf-8", "/openapi.json": "application/openapi+json"} {
		code, head, body := fetch(t, get(t, h.URL+path))
		if code != 200 || head.Get("Content-Type") != kind || len(body) == 0 {
			t.Errorf("%s: %d %s, %d bytes", path, code, head.Get("Content-Type"), len(body))
		}
		for k, v := range headers {
			if head.Get(k) != v {
				t.Errorf("%s: %s is %q", path, k, head.Get(k))
			}
		}
		if strings.HasPrefix(kind, "text/html") && (bytes.Contains(body, []byte("<script>")) || bytes.Contains(body, []byte("<style")) || bytes.Contains(body, []byte(" style="))) {
			t.Errorf("%s has something inline, which the policy forbids", path)
		}
	}
	for _, c := range []struct{ method, path, allow string }{
		{"POST", "/", "GET, HEAD"}, {"PUT", "/docs", "GET, HEAD"}, {"GET", "/api/v1/train", "POST"}, {"DELETE", "/api/v1/train", "POST"},
		{"POST", "/api/v1/gpus", "GET, HEAD"}, {"DELETE", "/api/v1/runs/x", "GET, HEAD"},
	} {
		r := post(t, h.URL+c.path, []byte("{}"))
		r.Method = c.method
		if code, head, _ := fetch(t, r); code != 405 || head.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, allowed %q", c.method, c.path, code, head.Get("Allow"))
		}
	}
}

// A program that was built without the front end says how to build it.
func TestUnbuiltPage(t *testing.T) {
	files := assets(fstest.MapFS{"dist/.keep": &fstest.MapFile{}})
	index := files["/index.html"]
	if index == nil || !strings.HasPrefix(index.kind, "text/html") || !bytes.Contains(index.plain, []byte("npm run build")) {
		t.Errorf("%+v", index)
	}
	if files["/docs.html"] == nil || files["/unbuilt.html"] != nil {
		t.Error("the API's description is lost, or the notice has a path of its own")
	}
	built := assets(dist)["/index.html"]
	if bytes.Contains(built.plain, []byte("npm run build")) {
		t.Error("the built page is not used")
	}
}

// Bad requests say what is wrong and how to mend it, in one line.
func TestProblems(t *testing.T) {
	h := serve(t, Options{Limits: Limits{Body: 4096}})
	url := h.URL + "/api/v1/train"
	for _, c := range []struct {
		name, body  string
		status      int
		field, part string
	}{
		{"no JSON", "hello", 400, "", "no JSON"},
		{"a list", "[1]", 400, "", "no JSON object"},
		{"nothing", "", 400, "", "body"},
		{"too large", `{"model":"` + strings.Repeat("x", 5000) + `"}`, 413, "", "config.json"},
		{"a missing field", `{"model":"llama-3.1-8b","cluster":"h100x8"}`, 422, "global_batch", "missing"},
		{"an unknown field", `{"modle":"llama-3.1-8b"}`, 422, "modle", "did you mean model?"},
		{"a flag as on the command line", `{"global-batch":8}`, 422, "global-batch", "did you mean global_batch?"},
		{"a field twice", `{"seq":1,"seq":2}`, 422, "seq", "twice"},
		{"an object where none fits", `{"seq":{}}`, 422, "seq", "text"},
		{"a nested list", `{"seq":[[1]]}`, 422, "seq", "flatten"},
		{"a list of models", `{"model":[1]}`, 422, "model", "give one name"},
		{"no cluster", `{"model":"llama-3.1-8b","cluster":"zzz","global_batch":8,"seq":1}`, 422, "cluster", "ridgeline clusters"},
		{"a quantity", `{"seq":"many"}`, 422, "seq", ""},
		{"a bound", `{"model":"llama-3.1-8b","cluster":"h100x8","global_batch":0,"seq":1}`, 422, "global_batch", "give 1 to"},
		{"a model", `{"model":"llama-9","cluster":"h100x8","global_batch":8,"seq":1}`, 422, "model", "llama-9"},
		{"a broken config", `{"model":{"model_type":"llama"},"cluster":"h100x8","global_batch":8,"seq":1}`, 422, "model", "config.json"},
		{"a broken cluster", `{"model":"llama-3.1-8b","cluster":{"device":"h100"},"global_batch":8,"seq":1}`, 422, "cluster", "gpus"},
		{"a plan", `{"model":"llama-3.1-8b","cluster":"h100x8","global_batch":8,"seq":1,"plan":{"tp":3}}`, 422, "plan", "tp"},
		{"a plan with a list", `{"plan":{"tp":[8]}}`, 422, "plan", "no number"},
	} {
		code, head, body := fetch(t, post(t, url, []byte(c.body)))
		if head.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %s", c.name, head.Get("Content-Type"))
		}
		wantProblem(t, c.name, code, body, c.status, c.field, c.part)
	}
	r := post(t, url, []byte("{}"))
	r.Header.Set("Content-Type", "text/plain") // what a form of another site could send
	code, _, body := fetch(t, r)
	wantProblem(t, "text/plain", code, body, 415, "", "application/json")
}

// A body is JSON as it stands: one that is packed, or in another alphabet, is refused and never read as something else.
func TestBodiesInOtherWritingsAreRefused(t *testing.T) {
	h := serve(t, Options{})
	for _, c := range []struct {
		head, value string
		status      int
	}{
		{"Content-Encoding", "gzip", 415}, {"Content-Encoding", "identity", 200}, {"Content-Encoding", "identity, gzip", 415},
		{"Content-Type", "application/json; charset=latin1", 415}, {"Content-Type", "application/json; charset=UTF-8", 200},
		{"Content-Type", "application/json; charset", 415},
	} {
		r := post(t, h.URL+"/api/v1/schedule", scheduleExample)
		r.Header.Set(c.head, c.value)
		if code, _, body := fetch(t, r); code != c.status {
			t.Errorf("%s: %s: %d %s", c.head, c.value, code, body)
		}
	}
}

// A number of JSON is what JSON says: 8.000 is 8, whatever a person may mean by it in a text.
func TestNumbersOfJSONAreWhole(t *testing.T) {
	h := serve(t, Options{})
	want := ""
	for _, n := range []string{"8", "8.000", "8.0"} {
		code, _, body := fetch(t, post(t, h.URL+"/api/v1/schedule", []byte(`{"name":"1f1b","stages":2,"f":"1ms","microbatches":`+n+`}`)))
		if want == "" {
			want = string(body)
		}
		if code != 200 || string(body) != want {
			t.Errorf("%s: %d %.80s", n, code, body)
		}
	}
}

// Errors that a form can cause bear their kind and figures, for other languages.
func TestFaultsBearTheirKind(t *testing.T) {
	h := serve(t, Options{})
	edited := func(gpus any) example { return example{"device": "h100", "gpus": 16, "node": example{"gpus": gpus}} }
	for want, change := range map[note.Code]example{
		note.UnknownName:      {"cluster": "h1000x16"},
		note.UnknownPrecision: {"precision": "fp3"},
		note.DegreesMisfit:    {"plan": "tp=3"},
		note.ClusterForm:      {"cluster": ""},
		note.NodesUnfilled:    {"cluster": edited(3)},
		note.FigureNotWhole:   {"cluster": edited(1.5)},
		note.FigureRange:      {"cluster": edited(1 << 20)},
	} {
		body := example{"model": "llama-3.1-8b", "cluster": "h100x16", "global_batch": 256, "seq": 4096, "precision": "bf16"}
		maps.Copy(body, change)
		code, _, b := fetch(t, post(t, h.URL+"/api/v1/train", body))
		var p Problem
		if err := json.Unmarshal(b, &p); err != nil || code != http.StatusUnprocessableEntity || note.Code(p.Code) != want || len(p.Values) == 0 {
			t.Errorf("%v: %d %s %v", change, code, b, err)
		}
	}
}
