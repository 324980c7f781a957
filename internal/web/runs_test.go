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
	dir := t.TempDir()
	runs, err := OpenRuns(dir)
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, Options{Runs: runs, Services: Services{URLs: []string{url}, Key: secret}})
	body := example{"url": url, "model": "m", "isl": 16, "osl": 8, "concurrency": "1,2", "requests": 12, "warmup": 0, "no_check": true}
	seen := &bytes.Buffer{}
	var ids []string
	for range 2 {
		stream := bufio.NewReader(open(t, t.Context(), h.Client(), h.URL+"/api/v1/bench", body).Body)
		stages := 0
		for {
			name, data := event(t, stream)
			seen.WriteString(data)
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
	if code != 200 || !strings.Contains(string(both), `"stages[1].ttft_ms.p50"`) {
		t.Errorf("%d %.200s", code, both)
	}
	kept, err := os.ReadFile(filepath.Join(dir, ids[0]+".json"))
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
	wantProblem(t, "no services", code, b, 403, "bench_url", "--bench-url"[2:7])
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

// Ids are compared with what the folder holds: they are no paths.
func TestRunsAreNoPaths(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"runs/good.json": `{"url":"u","stages":[],"model":"m","load":"closed","started":"2026-01-02T03:04:05Z"}`,
		"runs/other.json": `{"some":"thing"}`, "runs/broken.json": `{`, "secret.json": `{"url":"u","stages":[],"model":"secret-in-the-file"}`} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Symlink(filepath.Join(dir, "secret.json"), filepath.Join(dir, "runs", "link.json")) // where the system has links
	runs, err := OpenRuns(filepath.Join(dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, Options{Runs: runs})
	_, _, b := fetch(t, get(t, h.URL+"/api/v1/runs"))
	if want := `{"runs":[{"id":"good","kind":"bench","title":"m closed","started":"2026-01-02T03:04:05Z"}],"services":[]}`; strings.TrimSpace(string(b)) != want {
		t.Errorf("%s", b)
	}
	for _, id := range []string{"..%2fsecret", "link", "nothing", "good.json", "%2e%2e%2fsecret", "good%00"} {
		code, _, b := fetch(t, get(t, h.URL+"/api/v1/runs/"+id))
		if code != 404 && code != 400 || bytes.Contains(b, []byte("secret-in-the-file")) {
			t.Errorf("%s: %d %s", id, code, b)
		}
	}
	if code, _, _ := fetch(t, get(t, h.URL+"/api/v1/runs/live")); code != 204 {
		t.Errorf("nothing is under way: %d", code)
	}
}
