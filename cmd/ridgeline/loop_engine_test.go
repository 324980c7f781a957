package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/ggufwrite"
	"github.com/ridgeline/ridgeline/internal/tools"
)

const engineFolder = "../../engine/llamacpp"

// engineServer is a running engine/llamacpp.
type engineServer struct {
	url string
	cmd *exec.Cmd
}

func needEngine(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real engine")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node: the real engine needs it")
	}
	if _, err := os.Stat(filepath.Join(engineFolder, "node_modules", "node-llama-cpp")); err != nil {
		t.Skip("the engine is not installed: run make engine")
	}
}

func startEngine(t *testing.T, model string, flags ...string) *engineServer {
	t.Helper()
	args := append([]string{filepath.Join(engineFolder, "server.mjs"), "--model", model, "--port", "0"}, flags...)
	cmd := exec.Command("node", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the engine does not start: %v: %s", err, errs.String())
	}
	return &engineServer{url: strings.TrimSpace(line[strings.Index(line, "http"):]), cmd: cmd}
}

// once makes a connection for every request: the server closes idle ones, between two loads.
var once = http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// post sends a body and gives status and answer.
func (s *engineServer) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	r, err := once.Post(s.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return r.StatusCode, string(b)
}

// load sends n requests at once, each of isl token ids of its own and osl answers.
func (s *engineServer) load(t *testing.T, n, isl, osl int) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			ids := make([]int, isl)
			for k := range ids {
				ids[k] = 300 + (i*104729+k*7919+isl)%7000
			}
			body, _ := json.Marshal(map[string]any{"prompt": ids, "max_tokens": osl, "ignore_eos": true, "seed": i})
			if status, answer := s.post(t, "/v1/completions", string(body)); status != 200 || !strings.Contains(answer, fmt.Sprintf(`"completion_tokens":%d`, osl)) {
				t.Errorf("status %d: %s", status, answer)
			}
		})
	}
	wg.Wait()
}

// steps takes the rounds since the last call.
func (s *engineServer) steps(t *testing.T) []byte {
	t.Helper()
	r, err := once.Get(s.url + "/steps")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeModel(t *testing.T, c ggufwrite.Config) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), fmt.Sprintf("%s-%d-%s.gguf", c.Architecture, c.Hidden, c.Type))
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := c.Write(f); err != nil {
		t.Fatal(err)
	}
	return name
}

// The server keeps to the API, and tells what is wrong with a request.
func TestEngineServer(t *testing.T) {
	needEngine(t)
	s := startEngine(t, writeModel(t, ggufwrite.Config{Architecture: "llama", Type: "q8_0", Hidden: 64, Inner: 96, Layers: 2, Heads: 4}), "--parallel", "2", "--ctx-size", "512")
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/v1/completions", `{"prompt":[300,301],"max_tokens":3,"ignore_eos":true}`, 200, `"usage":{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5}`},
		{"/v1/completions", `{"prompt":"hello","max_tokens":2,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`, 200, "data: [DONE]"},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"max_tokens":2,"ignore_eos":true}`, 200, `"role":"assistant"`},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"max_tokens":2,"ignore_eos":true,"stream":true}`, 200, `"finish_reason":"length"`},
		{"/v1/completions", `{`, 400, "no JSON object"},
		{"/v1/completions", `[]`, 400, "no JSON object"},
		{"/v1/completions", `{}`, 400, "token ids below 8192"},
		{"/v1/completions", `{"prompt":[8192]}`, 400, "token ids below 8192"},
		{"/v1/completions", `{"prompt":[]}`, 400, "empty"},
		{"/v1/completions", `{"prompt":"x","n":2}`, 400, "n must be 1"},
		{"/v1/completions", `{"prompt":"x","max_tokens":0}`, 400, "max_tokens"},
		{"/v1/completions", `{"prompt":"x","temperature":-1}`, 400, "temperature"},
		{"/v1/completions", `{"prompt":"x","max_tokens":9999}`, 400, "pass the context of 256"},
		{"/v1/chat/completions", `{"messages":[]}`, 400, "messages"},
		{"/nowhere", `{}`, 404, "nothing at /nowhere"},
	} {
		if status, answer := s.post(t, c.path, c.body); status != c.status || !strings.Contains(answer, c.says) {
			t.Errorf("%s %s: %d %s, want %d with %q", c.path, c.body, status, answer, c.status, c.says)
		}
	}
	if r, err := http.Get(s.url + "/v1/completions"); err != nil || r.StatusCode != 405 {
		t.Errorf("GET: %v, %v", r, err)
	}
	// A client that hangs up frees its slot: two more than there are slots still end.
	c := http.Client{Timeout: 50 * time.Millisecond}
	for range 2 {
		c.Post(s.url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"x","max_tokens":250,"ignore_eos":true,"stream":true}`))
	}
	s.load(t, 4, 8, 4)
	rec, err := tools.Read(bytes.NewReader(s.steps(t)), "steps")
	if err != nil || len(rec.Results) == 0 {
		t.Errorf("steps: %v", err)
	}
}
