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
	"strings"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// The heavy tests run where an environment variable asks for them:
//
//	RIDGELINE_SOAK=200000 go test -run Soak -timeout 60m -v ./internal/bench
//	RIDGELINE_PYTHON=python3 go test -run Python -timeout 10m -v ./internal/bench
//	RIDGELINE_STREAMS=1000 go test -run Streams -timeout 10m -v ./internal/bench

// emulator starts `ridgeline emulate` on a free port and returns its URL and process.
func emulator(t *testing.T, flags ...string) (url string, pid int) {
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
			return "http://" + address + "/v1", cmd.Process.Pid
		}
		time.Sleep(100 * ms)
	}
	t.Fatal("the emulator does not answer")
	return "", 0
}

// held is what a process holds that a leak would grow.
type held struct {
	goroutines, files int
	heap              uint64 // bytes, after a collection
}

func holds(t *testing.T) (h held) {
	for range 3 { // pools keep what they hold over one collection
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here")
	}
	return held{runtime.NumGoroutine(), len(list), m.HeapAlloc}
}

// serverHolds is what another process holds: its threads (goroutines it does not tell),
// files and resident memory.
func serverHolds(t *testing.T, pid int) (h held) {
	folder := fmt.Sprintf("/proc/%d", pid)
	list, err := os.ReadDir(folder + "/fd")
	if err != nil {
		t.Skip("no /proc here")
	}
	status, err := os.ReadFile(folder + "/status")
	if err != nil {
		t.Fatal(err)
	}
	h.files = len(list)
	for line := range strings.Lines(string(status)) {
		f := strings.Fields(line)
		switch f[0] {
		case "VmRSS:":
			kb, _ := strconv.ParseUint(f[1], 10, 64)
			h.heap = kb << 10
		case "Threads:":
			h.goroutines, _ = strconv.Atoi(f[1])
		}
	}
	return h
}

// A soak of so many requests, in ten runs: nothing grows from run to run in the client
// or in the emulator, and every request is accounted for.
func TestSoak(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("RIDGELINE_SOAK"))
	if err != nil {
		t.Skip("RIDGELINE_SOAK is not a number of requests")
	}
	url, pid := emulator(t, "--model", "llama-3.1-8b", "--cluster", "h100x8", "--plan", "replicas=8", "--speed", "200",
		"--fault", "503=1%:1s,reset=0.5%,truncate=0.5%,garbage=0.5%,error=0.5%,half-event=0.5%")
	const runs = 10
	var first, last, server, serverLast held
	sum := Counts{}
	for i := range runs {
		q := soak(t, url, n/runs, i)
		sum.Sent, sum.OK, sum.Failed, sum.Truncated, sum.Cancelled = sum.Sent+q.Sent, sum.OK+q.OK, sum.Failed+q.Failed, sum.Truncated+q.Truncated, sum.Cancelled+q.Cancelled
		if last, serverLast = holds(t), serverHolds(t, pid); i == 1 { // the pools are warm
			first, server = last, serverLast
		}
		t.Logf("run %d: the client holds %+v, the emulator %+v", i, last, serverLast)
	}
	t.Logf("in all %+v", sum)
	if last.goroutines > first.goroutines+5 || last.files > first.files+5 || float64(last.heap) > 1.2*float64(first.heap)+4e6 {
		t.Errorf("the client leaks: %+v at first, %+v in the end", first, last)
	}
	// Idle connections come and go: one per worker at most, and what those of the run before still hold.
	if serverLast.files > server.files+2*workers || serverLast.goroutines > server.goroutines+8 || float64(serverLast.heap) > 1.3*float64(server.heap)+20e6 {
		t.Errorf("the emulator leaks: %+v at first, %+v in the end", server, serverLast)
	}
}

// workers are the requests in flight of a soak.
const workers = 64

// soak is one run of n requests.
func soak(t *testing.T, url string, n, i int) Counts {
	c := Config{Service: openai.Config{URL: url, Model: "llama-3.1-8b"}, Levels: []Level{{Mode: Closed, Concurrency: workers}}, NoCheck: true, Stream: true,
		IgnoreEOS: true, Input: workload.Length{Low: 32, High: 64}, Output: workload.Length{Low: 4, High: 12}, Requests: n}
	written := 0
	c.Record = func(*Record) error { written++; return nil }
	d, err := Run(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := d.Stages[0].Requests
	if q.Sent != n || written != n || q.Sent != q.OK+q.Failed+q.Truncated+q.Cancelled {
		t.Errorf("run %d: %+v, %d written of %d", i, q, written, n)
	}
	t.Logf("run %d: %+v %v, %.0f requests/s", i, q, d.Stages[0].Classes, float64(q.Sent)/(d.Stages[0].To-d.Stages[0].From))
	return q
}

// So many streams of 20 tokens/s each, from one client on the machine that also runs
// the emulator that serves them: none is lost, and memory keeps within 500 MB. The
// emulated steps of 8 replicas take 10.5 ms at a thousand in flight; at 0.21 of their
// speed a token comes every 50 ms.
func TestStreams(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("RIDGELINE_STREAMS"))
	if err != nil {
		t.Skip("RIDGELINE_STREAMS is not a number of streams")
	}
	url, _ := emulator(t, "--model", "llama-3.1-8b", "--cluster", "h100x8", "--plan", "replicas=8", "--speed", "0.21")
	const tokens = 400
	c := Config{Service: openai.Config{URL: url, Model: "llama-3.1-8b"}, Levels: []Level{{Mode: Closed, Concurrency: n}}, NoCheck: true, Stream: true, IgnoreEOS: true,
		Input: workload.Length{Low: 64, High: 64}, Output: workload.Length{Low: tokens, High: tokens}, Requests: 2 * n}
	d, err := Run(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &d.Stages[0]
	t.Logf("%d streams of 20 tokens/s: %+v %v; %.0f tokens/s of %d; TPOT p50 %.2f p99 %.2f ms; ICL p99 %.1f ms; client %.2f processors, %.3g us per chunk, lag p99 %.2f max %.2f ms, of times %.2f ms, memory %.0f MB, valid %v %v",
		n, s.Requests, s.Classes, s.OutputRate, 20*n, s.TPOT.P50, s.TPOT.P99, s.ICL.P99, *s.Client.CPU, *s.Client.CPU*(s.To-s.From)/float64(tokens*s.Requests.OK)*1e6,
		*s.Client.LagP99, *s.Client.LagMax, *s.Client.StampLagP99, float64(*s.Client.Memory)/1e6, s.Client.Valid, s.Client.Reasons)
	if s.Requests.OK != 2*n {
		t.Errorf("streams were lost: %+v %v", s.Requests, s.Classes)
	}
	if s.TPOT.P50 < 40 || s.TPOT.P50 > 62.5 {
		t.Errorf("a token every %.1f ms: these are no streams of 20 tokens/s", s.TPOT.P50)
	}
	if *s.Client.Memory > 500e6 {
		t.Errorf("%d bytes of memory", *s.Client.Memory)
	}
}
