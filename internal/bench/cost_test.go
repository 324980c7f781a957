package bench

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// serveStreams answers every request with tokens at a steady rate, from a process
// of its own: a clock per stream and nothing else. Without a gap they come as fast as they are sent.
func serveStreams(address string, gap time.Duration) {
	http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		tick := time.NewTicker(max(gap, 1))
		defer tick.Stop()
		const tokens = 400
		for i := range tokens {
			if gap > 0 {
				<-tick.C
			}
			finish := "null"
			if i == tokens-1 {
				finish = `"length"`
			}
			fmt.Fprintf(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":%s}],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":%d}}\n\n", finish, i+1)
			w.(http.Flusher).Flush()
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
}

func TestMain(m *testing.M) {
	if address := os.Getenv("RIDGELINE_SERVE_STREAMS"); address != "" {
		gap, err := time.ParseDuration(os.Getenv("RIDGELINE_SERVE_GAP"))
		if err == nil {
			serveStreams(address, gap)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// streamServer starts serveStreams in a process of its own.
func streamServer(t *testing.T, gap time.Duration) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), "RIDGELINE_SERVE_STREAMS="+address, "RIDGELINE_SERVE_GAP="+gap.String())
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	for range 100 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
		time.Sleep(100 * ms)
	}
	t.Fatal("the server of streams does not listen")
	return ""
}

// The processor time of a thousand chunks, beside that of a Python client that
// parses the same stream of the same server: at 20 tokens/s, where each chunk is a read of its own, and
// as fast as they come.
func TestCostBesidePython(t *testing.T) {
	python := os.Getenv("RIDGELINE_PYTHON")
	if python == "" {
		t.Skip("RIDGELINE_PYTHON names no Python")
	}
	for _, gap := range []time.Duration{50 * ms, 0} {
		t.Run(gap.String(), func(t *testing.T) { costBesidePython(t, python, gap) })
	}
}

func costBesidePython(t *testing.T, python string, gap time.Duration) {
	const streams = 1000
	host, port, err := net.SplitHostPort(streamServer(t, gap))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"testdata/asyncio_client.py", host, port, strconv.Itoa(streams)}
	if exec.Command(python, "-c", "import aiohttp").Run() == nil {
		args = append(args, "aiohttp")
	}
	out, err := exec.Command(python, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Chunks int
		User   float64 `json:"user_seconds"`
		System float64 `json:"system_seconds"`
	}
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatal(err)
	}
	user, system := spent(t)
	d, err := Run(t.Context(), Config{Service: openai.Config{URL: "http://" + net.JoinHostPort(host, port) + "/v1", Model: "m"}, NoCheck: true, Stream: true,
		Levels: []Level{{Mode: Closed, Concurrency: streams}}, Input: workload.Length{Low: 8, High: 8}, Requests: streams, Metrics: "-"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	chunks := d.Stages[0].ICL.N + d.Stages[0].Requests.OK
	userAfter, systemAfter := spent(t)
	ours := [2]float64{(userAfter - user) / float64(chunks) * 1e6, (systemAfter - system) / float64(chunks) * 1e6}
	theirs := [2]float64{p.User / float64(p.Chunks) * 1e6, p.System / float64(p.Chunks) * 1e6}
	times := (theirs[0] + theirs[1]) / (ours[0] + ours[1])
	t.Logf("processor time per 1,000 chunks: %.2f ms here (%.2f of it in the kernel) over %d, %.2f ms (%.2f) in Python (%s) over %d: %.1f times less, %.1f outside the kernel",
		ours[0]+ours[1], ours[1], chunks, theirs[0]+theirs[1], theirs[1], strings.Join(args[4:], ""), p.Chunks, times, theirs[0]/ours[0])
	if times < 5 {
		t.Errorf("%.1f times less than Python's, want 5", times)
	}
}

// spent is the processor time of this process, s: of its own code and in the kernel.
func spent(t *testing.T) (user, system float64) {
	t.Helper()
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Skip("no /proc here")
	}
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	ticks := func(i int) float64 { // USER_HZ is 100 on every Linux of today
		n, _ := strconv.ParseFloat(f[i], 64)
		return n / 100
	}
	return ticks(11), ticks(12) // fields 14 and 15 of proc(5), after pid and name
}
