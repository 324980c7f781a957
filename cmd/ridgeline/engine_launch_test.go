//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/cli"
	"github.com/ridgeline/ridgeline/internal/ggufwrite"
)

// ridgeline is a command line that must succeed; it gives stdout.
func ridgeline(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Run(args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("ridgeline %s: exit %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}

// What launch writes for llama.cpp starts a server that answers, and bench measures
// it. A llama-server that hands its flags to engine/llamacpp stands in for the real one.
func TestLaunchedEngineIsBenched(t *testing.T) {
	needEngine(t)
	model := writeModel(t, ggufwrite.Config{Architecture: "llama", Type: "q8_0", Hidden: 64, Inner: 96, Layers: 2, Heads: 4, Vocab: 32768})
	server, err := filepath.Abs(filepath.Join(engineFolder, "server.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	bin, out := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "llama-server"), fmt.Appendf(nil, "#!/bin/sh\nexec node '%s' \"$@\"\n", server), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	ridgeline(t, "launch", "--engine", "llamacpp", "--target", "shell", "--model", model, "--plan", "tp=1", "--name", "small", "--port", port, "--max-context", "256", "--max-sequences", "2", "--out", out)
	cmd := exec.Command("bash", filepath.Join(out, "small.sh"))
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Wait() })
	url := "http://127.0.0.1:" + port
	for ready, begun := false, time.Now(); !ready; time.Sleep(100 * time.Millisecond) {
		r, err := http.Get(url + "/health")
		ready = err == nil && r.StatusCode == 200
		if !ready && time.Since(begun) > time.Minute {
			t.Fatalf("the launched server does not answer: %s", said.String())
		}
	}
	answer := ridgeline(t, "bench", "--url", url+"/v1", "--model", "small", "--endpoint", "completions", "--prompts", "ids", "--isl", "16", "--osl", "8", "--concurrency", "1,2", "--requests", "6", "--no-keep", "--json")
	var doc struct {
		Stages []struct {
			Requests struct{ Sent, OK, Failed int }
			TPOT     struct{ N int } `json:"tpot_ms"`
		}
	}
	if err := json.Unmarshal([]byte(answer), &doc); err != nil || len(doc.Stages) != 2 {
		t.Fatalf("%v: %s", err, answer)
	}
	for _, s := range doc.Stages {
		if s.Requests.OK == 0 || s.Requests.Failed > 0 || s.TPOT.N == 0 {
			t.Errorf("stage %+v", s)
		}
	}
}
