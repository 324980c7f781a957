package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/pflag"
)

// leaky is a service that repeats the key, and says a word, wherever a text of its own
// can go: tokens, reasons of the end, errors, redirects, names of metrics.
func leaky(t *testing.T, key, word string) string {
	t.Helper()
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			if r.Header.Get("Authorization") != "" {
				t.Error("the key goes with a request for metrics")
			}
			fmt.Fprintf(w, "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{model_name=%q} 1\n", key)
			return
		}
		w.Header().Set("X-Echo", key)
		switch asked.Add(1) % 6 {
		case 1:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error": {"message": "wrong key %s"}}`, key)
			return
		case 2:
			http.Redirect(w, r, "http://127.0.0.1:1/"+key+"/v1", http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"id\":%q,\"model\":%q,\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":null}]}\n\n", key, key, key+" "+word)
		switch asked.Load() % 6 {
		case 3:
			fmt.Fprintf(w, "data: {\"error\": {\"message\": \"out of %s\", \"type\": %q}}\n\n", key, key)
		case 4:
			fmt.Fprintf(w, "event: error\ndata: %s\n\n", key)
		case 5:
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", key)
		default:
			fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n")
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// Nothing that a run leaves holds the key: not the page, not the report in any format,
// not the records, not the store. Prompts and answers are in it only where asked for,
// and then without the key too.
func TestRunsHoldNoKeyAndNoTexts(t *testing.T) {
	const key, word = "sk-Zq7very-secret", "wombatword"
	t.Setenv("LEAKY_KEY", key)
	for _, keep := range []bool{false, true} {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		args := []string{"bench", "--url", leaky(t, key, word), "--model", "m", "--isl", "8", "--osl", "2", "--concurrency", "2", "--requests", "18", "--warmup", "0", "--no-check",
			"--api-key-env", "LEAKY_KEY", "--db", at("runs.db"), "--name", "kept", "--out", at("report.json"), "--csv", at("report.csv"), "--html", at("report.html"),
			"--prometheus", at("report.prom"), "--records", at("records.jsonl")}
		if keep {
			args = append(args, "--keep-text")
		}
		var out, errs bytes.Buffer
		if code := Run(args, strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("exit %d: %s", code, errs.String())
		}
		left := map[string][]byte{"stdout": out.Bytes(), "stderr": errs.Bytes()}
		files, err := os.ReadDir(dir)
		if err != nil || len(files) < 6 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, f := range files {
			if left[f.Name()], err = os.ReadFile(at(f.Name())); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range left {
			if bytes.Contains(text, []byte(key)) {
				t.Errorf("keep %v: the key is in %s", keep, name)
			}
			if has, may := bytes.Contains(text, []byte(word)), keep && name == "records.jsonl"; has != may {
				t.Errorf("keep %v: answers in %s: %v, want %v", keep, name, has, may)
			}
		}
		if !bytes.Contains(left["report.json"], []byte("http")) || !bytes.Contains(left["report.json"], []byte(`"failed"`)) {
			t.Error("the report says nothing of the failures")
		}
	}
}

// Arguments of a process are read by all users of its machine: keys come from files and the
// environment alone.
func TestNoFlagTakesAKey(t *testing.T) {
	found := 0
	newBenchCommand(&Env{}).Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(f.Name, "key") {
			return
		}
		if found++; !strings.HasSuffix(f.Name, "-file") && !strings.HasSuffix(f.Name, "-env") {
			t.Errorf("--%s", f.Name)
		}
	})
	var out, errs bytes.Buffer
	if code := Run([]string{"bench", "--url", "http://127.0.0.1:1/v1", "--model", "m", "--api-key", "sk-1"}, strings.NewReader(""), &out, &errs); code != 2 || found != 2 || strings.Contains(errs.String(), "sk-1") {
		t.Errorf("%d flags of keys; --api-key: exit %d: %s", found, code, &errs)
	}
}
