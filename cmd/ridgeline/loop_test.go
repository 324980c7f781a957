package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/ggufwrite"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/modelfile"
	"github.com/ridgeline/ridgeline/internal/probe"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/tools"
	"github.com/ridgeline/ridgeline/internal/tune"
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

// pair is a model to calibrate on and another, of other widths, to predict.
type pair struct {
	name          string
	first, second ggufwrite.Config
	// layers of the first, by format, so that its weights take 150 to 240 MB: none may
	// stay in the caches, for the same reason as STREAM's arrays take four times those.
	layers map[string]int
}

var pairs = []pair{
	{"llama", ggufwrite.Config{Architecture: "llama", Hidden: 768, KVHeads: 4},
		ggufwrite.Config{Architecture: "llama", Hidden: 1024, Inner: 2816, Layers: 16, Heads: 16, KVHeads: 4, Vocab: 16384}, map[string]int{"f16": 12, "q8_0": 24, "q4_0": 40}},
	{"deepseek2", ggufwrite.Config{Architecture: "deepseek2", Hidden: 640},
		ggufwrite.Config{Architecture: "deepseek2", Layers: 10}, map[string]int{"f16": 6, "q8_0": 10, "q4_0": 18}},
}

// allowed is the largest error of a decode step, by the format of the weights.
var allowed = map[string]float64{"fp16": 0.15, "q8_0": 0.15, "q4_0": 0.25}

// steady is how far the bandwidth before a run may differ from that after it.
const steady = 0.1

// The loop: probe this CPU, calibrate on one model, predict another from its header
// alone, and measure that one. Times are of the engine's one thread, so that load on the
// machine lengthens them only through the memory bus: bandwidth is measured before and
// after each attempt, and an attempt that it changed in is made again.
func TestLoop(t *testing.T) {
	needEngine(t)
	if os.Getenv("RIDGELINE_LOOP") == "" {
		t.Skip("takes minutes: set RIDGELINE_LOOP=1, as make loop does")
	}
	for _, p := range pairs {
		for _, kind := range []string{"f16", "q8_0", "q4_0"} {
			t.Run(p.name+"-"+kind, func(t *testing.T) {
				p.first.Type, p.second.Type, p.first.Layers = kind, kind, p.layers[kind]
				const attempts = 3
				loaded := true // in all attempts so far
				for i := range attempts {
					bad, disturbed := p.attempt(t)
					loaded = loaded && disturbed
					if len(bad) == 0 {
						return
					}
					if i < attempts-1 {
						t.Logf("attempt %d (bandwidth changed: %v): %s", i+1, disturbed, strings.Join(bad, "; "))
						continue
					}
					if loaded {
						t.Skipf("the machine is too loaded to judge: bandwidth changed by more than %.0f %% in each attempt; %s", 100*steady, strings.Join(bad, "; "))
					}
					t.Error(strings.Join(bad, "; "))
				}
			})
		}
	}
}

// bandwidth is the probe of this moment.
func bandwidth(t *testing.T) *record.Record {
	t.Helper()
	rec := probe.New("ridgeline", "test")
	c := probe.CPU{Threads: []int{1}, Size: 512, Repeats: 5}
	if err := c.Run(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return rec
}

// attempt measures both models side by side and says which decode steps of the second
// were predicted too far off, and whether the bandwidth changed meanwhile.
func (p *pair) attempt(t *testing.T) (bad []string, disturbed bool) {
	t.Helper()
	files := [2]string{writeModel(t, p.first), writeModel(t, p.second)}
	var servers [2]*engineServer
	for i, f := range files {
		servers[i] = startEngine(t, f, "--parallel", "8", "--ctx-size", "8192", "--no-mmap")
		servers[i].load(t, 1, 8, 4)
		servers[i].steps(t)
	}
	before := bandwidth(t)
	for _, batch := range []int{1, 2, 4, 8, 1, 2, 4, 8} { // twice, so that each sees the machine at several times
		for _, s := range servers {
			s.load(t, batch, 64, 16)
		}
		switch batch {
		case 1:
			for _, s := range servers {
				s.load(t, 1, 512, 12)
			}
		case 2, 4:
			servers[1].load(t, 3, 64, 16) // of which the first model tells nothing
		}
	}
	after := bandwidth(t)
	var runs [2]tune.Run
	for i, s := range servers {
		m, err := modelfile.OpenGGUF(files[i])
		if err != nil {
			t.Fatal(err)
		}
		rec, err := tools.Read(bytes.NewReader(s.steps(t)), files[i])
		if err != nil {
			t.Fatal(err)
		}
		runs[i] = tune.Run{Model: m, Record: rec}
		s.cmd.Process.Kill()
	}
	a, b := before.Results[1].Best, after.Results[1].Best
	disturbed = math.Abs(a/b-1) > steady
	best := before
	if b > a {
		best = after
	}
	o, err := tune.Fit(t.Context(), &tune.Input{Records: []*record.Record{best}, Runs: runs[:1]})
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs[1].Record.Results {
		r := &runs[1].Record.Results[i]
		if r.What != "decode" {
			continue
		}
		seconds, measured := decodeStep(t, o.Machine, runs[1].Model, r), r.Value
		if r.Repeats >= 8 && r.Best > 0 {
			measured = r.Best // others on the machine only lengthen a step
		}
		format, _, _ := infer.CheckpointFormats(runs[1].Model)
		x := seconds/measured - 1
		t.Logf("%-9s %-5s decode  %d sequences, context %4d: measured %8.2f ms, predicted %8.2f ms, %+.1f %%", p.name, format, r.Batch, r.Context, 1e3*measured, 1e3*seconds, 100*x)
		asked := r.Batch <= 4 || r.Batch == 8 // others pass by while requests begin and end
		if asked && math.Abs(x) > allowed[format.String()] {
			bad = append(bad, fmt.Sprintf("%s decode of %d: %+.1f %%", format, r.Batch, 100*x))
		}
	}
	return bad, disturbed
}

// decodeStep is the prediction of a decode step, seconds.
func decodeStep(t *testing.T, machine *hw.Cluster, m *model.Model, r *record.Result) float64 {
	t.Helper()
	profile, err := infer.ProfileOn("", machine.Device)
	if err != nil {
		t.Fatal(err)
	}
	s := &infer.Setup{Model: m, Cluster: machine, Profile: profile, MaxBatchTokens: 512}
	s.Weights, s.Experts, s.KV = infer.CheckpointFormats(m)
	e, err := infer.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return float64(e.Step(&infer.Batch{Decode: r.Batch, DecodeContext: int64(r.Batch) * r.Context}).Total)
}
