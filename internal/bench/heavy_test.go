package bench

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// The heavy tests run where an environment variable asks for them:
//
//	RIDGELINE_SOAK=200000 go test -run Soak -timeout 60m -v ./internal/bench
//	RIDGELINE_STREAMS=1000 go test -run Streams -timeout 10m -v ./internal/bench

// emulator starts `ridgeline emulate` on a free port and returns its URL.
func emulator(t *testing.T, flags ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "ridgeline")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/ridgeline").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	cmd := exec.Command(binary, append([]string{"emulate", "--listen", address}, flags...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
	for range 100 {
		if p, err := http.Get("http://" + address + "/health"); err == nil {
			p.Body.Close()
			return "http://" + address + "/v1"
		}
		time.Sleep(100 * ms)
	}
	t.Fatal("the emulator does not answer")
	return ""
}

// held is what a process holds that a leak would grow.
type held struct {
	goroutines, files int
	heap              uint64 // bytes, after a collection
}

func holds(t *testing.T) (h held) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here")
	}
	return held{runtime.NumGoroutine(), len(list), m.HeapAlloc}
}

// A soak of so many requests, in ten runs: nothing grows from run to run, and
// every request is accounted for.
func TestSoak(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("RIDGELINE_SOAK"))
	if err != nil {
		t.Skip("RIDGELINE_SOAK is not a number of requests")
	}
	url := emulator(t, "--model", "llama-3.1-8b", "--cluster", "h100x8", "--plan", "replicas=8", "--speed", "200",
		"--fault", "503=1%:1s,reset=0.5%,truncate=0.5%,garbage=0.5%,error=0.5%,half-event=0.5%")
	const runs = 10
	var first, last held
	sum := Counts{}
	for i := range runs {
		c := Config{Service: openai.Config{URL: url, Model: "llama-3.1-8b"}, Levels: []Level{{Mode: Closed, Concurrency: 64}}, NoCheck: true, Stream: true,
			IgnoreEOS: true, Input: workload.Length{Low: 32, High: 64}, Output: workload.Length{Low: 4, High: 12}, Requests: n / runs}
		written := 0
		c.Record = func(*Record) error { written++; return nil }
		d, err := Run(t.Context(), c, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := d.Stages[0].Requests
		if q.Sent != n/runs || written != n/runs || q.Sent != q.OK+q.Failed+q.Truncated+q.Cancelled {
			t.Errorf("run %d: %+v, %d written of %d", i, q, written, n/runs)
		}
		sum.Sent, sum.OK, sum.Failed, sum.Truncated, sum.Cancelled = sum.Sent+q.Sent, sum.OK+q.OK, sum.Failed+q.Failed, sum.Truncated+q.Truncated, sum.Cancelled+q.Cancelled
		last = holds(t)
		if i == 1 { // after one run of warming pools
			first = last
		}
		t.Logf("run %d: %+v %v, %.0f requests/s, holds %+v", i, q, d.Stages[0].Classes, float64(q.Sent)/(d.Stages[0].To-d.Stages[0].From), last)
	}
	t.Logf("in all %+v", sum)
	if last.goroutines > first.goroutines+5 || last.files > first.files+5 || float64(last.heap) > 1.2*float64(first.heap)+4e6 {
		t.Errorf("something leaks: %+v at first, %+v in the end", first, last)
	}
}

// serveStreams answers every request with tokens at a steady rate, from a process
// of its own: a clock per stream and nothing else.
func serveStreams(address string, gap time.Duration) {
	http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		tick := time.NewTicker(gap)
		defer tick.Stop()
		const tokens = 400
		for i := range tokens {
			<-tick.C
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
		serveStreams(address, 50*ms) // 20 tokens/s
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// So many streams of 20 tokens/s each, from one client on the machine that also
// serves them: none is lost, and memory keeps within 500 MB.
func TestStreams(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("RIDGELINE_STREAMS"))
	if err != nil {
		t.Skip("RIDGELINE_STREAMS is not a number of streams")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), "RIDGELINE_SERVE_STREAMS="+address)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { server.Process.Kill(); server.Wait() }()
	for range 50 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			break
		}
		time.Sleep(100 * ms)
	}
	c := Config{Service: openai.Config{URL: "http://" + address + "/v1", Model: "m"}, Levels: []Level{{Mode: Closed, Concurrency: n}}, NoCheck: true, Stream: true,
		Input: workload.Length{Low: 64, High: 64}, Requests: 2 * n, Metrics: "-"}
	d, err := Run(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &d.Stages[0]
	t.Logf("%d streams of 20 tokens/s: %+v %v; %.0f tokens/s of %d; TPOT p50 %.2f p99 %.2f ms; ICL p99 %.1f ms; client %.2f processors, %.3g us per chunk, lag p99 %.2f ms, memory %.0f MB, valid %v %v",
		n, s.Requests, s.Classes, s.OutputRate, 20*n, s.TPOT.P50, s.TPOT.P99, s.ICL.P99, s.Client.CPU, s.Client.CPU*(s.To-s.From)/float64(400*s.Requests.OK)*1e6,
		s.Client.LagP99, float64(s.Client.Memory)/1e6, s.Client.Valid, s.Client.Reasons)
	if s.Requests.OK != 2*n {
		t.Errorf("streams were lost: %+v %v", s.Requests, s.Classes)
	}
	if s.Client.Memory > 500e6 {
		t.Errorf("%d bytes of memory", s.Client.Memory)
	}
}
