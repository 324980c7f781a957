package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/store"
	"github.com/ridgeline/ridgeline/internal/storetest"
)

const secret = "sk-very-secret"

// service is one that answers every chat with eight tokens; wrong counts
// requests without the key.
func service(t *testing.T) (url string, wrong *atomic.Int64) {
	t.Helper()
	wrong = &atomic.Int64{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.NotFound(w, r)
			return
		}
		if r.Header.Get("Authorization") != "Bearer "+secret {
			wrong.Add(1)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 8 {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word%d \"}}]}\n\n", i)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(2 * time.Millisecond)
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":8,\"total_tokens\":24}}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(h.Close)
	return h.URL + "/v1", wrong
}

// A service is evaluated with events as it runs, the run is kept, listed and
// compared; the key goes to the service and nowhere else.
func TestBenchIsKept(t *testing.T) {
	url, wrong := service(t)
	db, file := database(t)
	h := serve(t, Options{Store: db, Services: Services{URLs: []string{url}, Key: secret}})
	body := example{"url": url, "model": "m", "isl": 16, "osl": 8, "concurrency": "1,2", "requests": 12, "warmup": 0, "no_check": true}
	seen := &bytes.Buffer{}
	described := describer(t, h.URL)
	var ids []string
	for range 2 {
		stream := bufio.NewReader(open(t, t.Context(), h.Client(), h.URL+"/api/v1/bench", body).Body)
		stages := 0
		for {
			name, data := event(t, stream)
			seen.WriteString(data)
			if err := described("paths", "/api/v1/bench", "post", "responses", "200", "content", "text/event-stream", "x-events", name).Validate(decoded(t, []byte(data))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if name == "stage" {
				stages++
			}
			if name == "sample" || name == "stage" {
				continue
			}
			var end struct {
				ID       string
				Document struct {
					Stages []struct{ Requests struct{ OK int } }
				}
			}
			if err := json.Unmarshal([]byte(data), &end); err != nil || name != "result" {
				t.Fatalf("%s %s: %v", name, data, err)
			}
			if stages != 2 || len(end.Document.Stages) != 2 || end.Document.Stages[1].Requests.OK != 12 {
				t.Errorf("%d stages, %+v", stages, end)
			}
			ids = append(ids, end.ID)
			break
		}
	}
	if wrong.Load() > 0 {
		t.Errorf("%d requests without the key", wrong.Load())
	}
	_, _, list := fetch(t, get(t, h.URL+"/api/v1/runs"))
	var all struct{ Runs []Run }
	if err := json.Unmarshal(list, &all); err != nil || len(all.Runs) != 2 || all.Runs[0].Kind != "bench" || all.Runs[0].Started == "" {
		t.Errorf("%s: %v", list, err)
	}
	code, _, one := fetch(t, get(t, h.URL+"/api/v1/runs/"+ids[0]))
	if code != 200 || !strings.Contains(string(one), `"output_tokens_per_second"`) {
		t.Errorf("%d %.200s", code, one)
	}
	code, _, both := fetch(t, get(t, h.URL+"/api/v1/runs/compare?a="+ids[0]+"&b="+ids[1]))
	if code != 200 || !strings.Contains(compact(t, both), `"method":"bootstrap"`) {
		t.Errorf("%d %.200s", code, both)
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"events": seen.Bytes(), "list": list, "run": one, "comparison": both, "file": kept} {
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("the key is in the %s", name)
		}
	}
}

// A client may choose among the services that the server was started for, and
// nothing else of where requests go.
func TestBenchOfOthersIsRefused(t *testing.T) {
	url, wrong := service(t)
	body := example{"url": url, "model": "m", "isl": 16, "osl": 8, "concurrency": 1}
	closed := serve(t, Options{})
	code, _, b := fetch(t, post(t, closed.URL+"/api/v1/bench", body))
	wantProblem(t, "no services", code, b, 403, "", "`ridgeline web --bench-url URL`")
	h := serve(t, Options{Services: Services{URLs: []string{"http://127.0.0.1:9/v1"}, Key: secret}})
	for _, other := range []string{url, "http://127.0.0.1:9/v1/..", "http://127.0.0.1:9/v2", "http://evil.example/v1", "http://127.0.0.1:9@evil.example/v1", "https://127.0.0.1:9/v1"} {
		code, _, b := fetch(t, post(t, h.URL+"/api/v1/bench", body.with(example{"url": other})))
		if code != 403 && code != 422 || bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s: %d %s", other, code, b)
		}
	}
	for _, field := range []string{"metrics_url", "trace", "insecure", "api_key_file", "tokenizer"} {
		code, _, b := fetch(t, post(t, h.URL+"/api/v1/bench", body.with(example{"url": "http://127.0.0.1:9/v1", field: "x"})))
		wantProblem(t, field, code, b, 422, field, "unknown field")
	}
	if wrong.Load() > 0 {
		t.Error("a refused service was asked")
	}
}

// Ids are numbers: they are no names, no ages and no paths.
func TestRunsAreNumbers(t *testing.T) {
	db, _ := database(t)
	for i, text := range []string{`{"record":"r","results":[{"value":1}],"n":2}`, `{"record":"r","results":[{"value":3}],"n":0}`, `{"scored":1,"rows":2,"metrics":{}}`} {
		r, err := api.RunOf([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r.Name, r.At = fmt.Sprintf("name%d", i), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		if _, err := db.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	h := serve(t, Options{Store: db})
	_, _, b := fetch(t, get(t, h.URL+"/api/v1/runs"))
	if !strings.Contains(compact(t, b), `{"id":"3","kind":"validation","title":"name2","name":"name2","model":"","target":"","source":"ridgeline","started":"2026-01-02T03:04:05Z"}`) {
		t.Errorf("%s", b)
	}
	for _, id := range []string{"0", "4", "last", "last~1", "name1", "-1", "1;2", "..%2fruns.db", "99999999999999999999", "%00"} {
		code, _, b := fetch(t, get(t, h.URL+"/api/v1/runs/"+id))
		if code != 404 && code != 400 {
			t.Errorf("%s: %d %s", id, code, b)
		}
	}
	_, _, b = fetch(t, get(t, h.URL+"/api/v1/runs/compare?a=1&b=2"))
	if !strings.Contains(compact(t, b), `{"path":"n","a":2,"b":0,"ratio":0},{"path":"results[0].value","a":1,"b":3,"ratio":3}`) {
		t.Errorf("%s", b)
	}
	code, _, b := fetch(t, get(t, h.URL+"/api/v1/runs/compare?a=1&b=3"))
	wantProblem(t, "two kinds", code, b, 422, "", "give two measurements")
	if code, _, _ := fetch(t, get(t, h.URL+"/api/v1/runs/live")); code != 204 {
		t.Errorf("nothing is under way: %d", code)
	}
	_, _, b = fetch(t, get(t, serve(t, Options{}).URL+"/api/v1/runs"))
	if compact(t, b) != `{"runs":[],"services":[]}` {
		t.Errorf("without a store: %s", b)
	}
}

// A run whose bytes were changed is told by a code and in words that mend it.
func TestDamagedRun(t *testing.T) {
	db, file := database(t)
	n, err := db.Add(t.Context(), &store.Run{Kind: "bench", Document: []byte(`{"a":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Damage(t, file)
	h := serve(t, Options{Store: db})
	code, _, b := fetch(t, get(t, fmt.Sprintf("%s/api/v1/runs/%d", h.URL, n)))
	if code != http.StatusInternalServerError || !strings.Contains(string(b), `"damaged_run"`) || !strings.Contains(string(b), "run 1 is damaged: `ridgeline runs delete 1`") {
		t.Errorf("%d %s", code, b)
	}
}

// compact is JSON without blanks.
func compact(t *testing.T, b []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		t.Fatalf("%v: %.300s", err, b)
	}
	return out.String()
}

// database is an empty store and its file.
func database(t *testing.T) (*store.DB, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "runs.db")
	db, err := store.Open(t.Context(), file, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db, file
}

// A report that cannot be kept is answered all the same, with what keeps it from being kept.
func TestBenchThatCannotBeKept(t *testing.T) {
	url, _ := service(t)
	db, file := database(t)
	h := serve(t, Options{Store: db, Services: Services{URLs: []string{url}, Key: secret}})
	described := describer(t, h.URL)
	body := example{"url": url, "model": "m", "isl": 16, "osl": 8, "concurrency": 1, "requests": 4, "warmup": 0, "no_check": true}
	stream := bufio.NewReader(open(t, t.Context(), h.Client(), h.URL+"/api/v1/bench", body).Body)
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		t.Skip("an open file cannot be removed here:", err)
	}
	for {
		name, data := event(t, stream)
		if name == "sample" || name == "stage" {
			continue
		}
		if err := described("paths", "/api/v1/bench", "post", "responses", "200", "content", "text/event-stream", "x-events", name).Validate(decoded(t, []byte(data))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var end struct {
			ID       string
			Document struct {
				Stages []struct{ Requests struct{ OK int } }
			}
			NotKept *Problem `json:"not_kept"`
		}
		if err := json.Unmarshal([]byte(data), &end); err != nil || name != "result" {
			t.Fatalf("%s %s: %v", name, data, err)
		}
		if end.ID != "" || len(end.Document.Stages) != 1 || end.NotKept == nil || end.NotKept.Code != codeNotKept || !strings.Contains(end.NotKept.Detail, "put back its folder") {
			t.Errorf("%+v, %+v", end, end.NotKept)
		}
		return
	}
}
