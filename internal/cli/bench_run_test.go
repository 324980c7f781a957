package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// service answers every question with two tokens and counts them.
func service(t *testing.T, asked *atomic.Int32) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		asked.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 2 {
			fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}\n\n")
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// relay stands before the service at url, runs before at each request and gives its own URL.
func relay(t *testing.T, url string, before func()) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before()
		p, err := http.Post(strings.TrimSuffix(url, "/v1")+r.URL.Path, "application/json", r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		defer p.Body.Close()
		w.Header().Set("Content-Type", p.Header.Get("Content-Type"))
		io.Copy(w, p.Body)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// --records - puts every request on stdout, and nothing else.
func TestRecordsOnStdout(t *testing.T) {
	var out, errs bytes.Buffer
	var asked atomic.Int32
	args := []string{"bench", "--url", service(t, &asked), "--model", "m", "--isl", "8", "--osl", "2", "--concurrency", "2", "--requests", "6", "--warmup", "0", "--no-check", "--no-keep", "--records", "-"}
	if code := Run(args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	if x, err := bench.ReadRecords(bytes.NewReader(out.Bytes()), "stdout"); err != nil || len(x.Records) != 6 || x.Cut {
		t.Errorf("%+v, %v: want 6 records of\n%s", x, err, out.String())
	}
}

// A file that cannot be written is told before the first request; one that can is
// not made before there is a report.
func TestOutputsAreCheckedFirst(t *testing.T) {
	dir := t.TempDir()
	for _, flag := range []string{"--out", "--csv", "--html", "--prometheus"} {
		var errs bytes.Buffer
		var asked atomic.Int32
		args := []string{"bench", "--url", service(t, &asked), "--model", "m", "--isl", "8", "--osl", "2", "--concurrency", "1", "--requests", "1", "--no-keep", flag, filepath.Join(dir, "none", "x")}
		if code := Run(args, strings.NewReader(""), io.Discard, &errs); code != 2 || !strings.Contains(errs.String(), flag) || asked.Load() != 0 {
			t.Errorf("%s: exit %d after %d requests: %s", flag, code, asked.Load(), errs.String())
		}
	}
	name := filepath.Join(dir, "x")
	if err := writable("out", name); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("the file is there before the report")
	}
}

// A question without a length names the flags that give one.
func TestNothingToAskNamesItsFlags(t *testing.T) {
	var asked atomic.Int32
	var errs bytes.Buffer
	code := Run([]string{"bench", "--url", service(t, &asked), "--model", "m", "--concurrency", "1", "--no-keep"}, strings.NewReader(""), io.Discard, &errs)
	for _, flag := range []string{"--isl", "--trace", "--dataset"} {
		if code != 2 || !strings.Contains(errs.String(), flag) || asked.Load() != 0 {
			t.Errorf("exit %d after %d requests, no %s: %s", code, asked.Load(), flag, errs.String())
		}
	}
}
