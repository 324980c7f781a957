package bench

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/openai"
)

// The limits beyond which the client itself was the bottleneck, and the run says
// nothing of the service. Times that are taken late by a tenth of what is measured show in it;
// a client that consumes answers so late begins requests late;
// a process that uses nine tenths of its processors queues its own work; an open
// loop at 0.98 of its rate, or a closed one at 0.95 of its number in flight, is
// another load than was asked for.
const (
	maxLagShare  = 0.1
	maxCPUShare  = 0.9
	minRateShare = 0.98
	minFlyShare  = 0.95
	lagFloor     = 1.0 // ms: what a busy but sane scheduler may do
)

// lagTick is how often lateness is sampled.
const lagTick = 10 * time.Millisecond

// health watches the client: a goroutine that is due every few milliseconds notes how late it runs,
// as late as any other that sends a request or reads an answer, or how late answers were consumed since, where
// that was longer. Times are late as it is where goroutines take them, and by what the reader of streams tells.
type health struct {
	mu     sync.Mutex
	late   []float64 // of what is consumed, ms
	stamps []float64 // of times, ms
	memory uint64
	begun  time.Time
	cpu    time.Duration
	gc     time.Duration
	quit   chan struct{}
	done   chan struct{}
}

func watch() *health {
	h := &health{quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(h.done)
		t := time.NewTimer(lagTick)
		defer t.Stop()
		held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		var last time.Duration // how late the last tick was
		for n := 0; ; n++ {
			due := time.Now().Add(lagTick)
			t.Reset(lagTick)
			select {
			case <-h.quit:
				return
			case <-t.C:
			}
			late := time.Since(due)
			consumed, stamped, own := openai.Lateness()
			if own { // reads that a stall delayed may come after the tick that it delayed
				stamped = max(stamped, late, last)
			}
			last = late
			h.mu.Lock()
			h.late = append(h.late, milliseconds(max(late, consumed)))
			h.stamps = append(h.stamps, milliseconds(stamped))
			if n%20 == 0 {
				metrics.Read(held)
				h.memory = max(h.memory, held[0].Value.Uint64()-held[1].Value.Uint64())
			}
			h.mu.Unlock()
		}
	}()
	return h
}

func (h *health) stop() { close(h.quit); <-h.done }

// begin starts a stage.
func (h *health) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.late, h.stamps, h.memory, h.begun, h.cpu, h.gc = nil, nil, 0, time.Now(), cpuTime(), gcPause()
}

func gcPause() time.Duration {
	var s debug.GCStats
	debug.ReadGCStats(&s)
	return s.PauseTotal
}

// judge is what the client was like during a stage, and whether that spoils it.
func (h *health) judge(s *Stage) Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	lag, stamps := NewDist(h.late), NewDist(h.stamps)
	pause, memory, used := milliseconds(gcPause()-h.gc), int64(h.memory), 0.0
	if wall := time.Since(h.begun); wall > 0 {
		used = (cpuTime() - h.cpu).Seconds() / wall.Seconds()
	}
	c := Client{Valid: true, Reasons: []string{}, LagP99: &lag.P99, LagMax: &lag.Max, StampLagP99: &stamps.P99, CPU: &used, GCPause: &pause, Memory: &memory}
	say := func(format string, args ...any) {
		c.Valid = false
		c.Reasons = append(c.Reasons, fmt.Sprintf(format, args...))
	}
	finest, name := s.finest()
	if finest > 0 && stamps.P99 > max(lagFloor, maxLagShare*finest) {
		say("the client took times %.3g ms late (p99), over a tenth of the median %s of %.3g ms", stamps.P99, name, finest)
	}
	if whole := s.E2E; whole.N > 0 && lag.P99 > max(lagFloor, maxLagShare*whole.P50) {
		say("the client ran %.3g ms late (p99), over a tenth of the median time of a request of %.3g ms", lag.P99, whole.P50)
	}
	if cores := float64(runtime.GOMAXPROCS(0)); used > maxCPUShare*cores {
		say("the client used %.2f of %.0f processors", used, cores)
	}
	switch {
	case s.Mode == Closed && s.Steady != nil && s.Requests.Failed == 0 && float64(s.Steady.InFlight) < minFlyShare*float64(s.Concurrency):
		say("%.1f requests were in flight of %d", s.Steady.InFlight, s.Concurrency)
	case s.Mode == Open && s.Requests.Sent >= leastForRate && s.slipped() > 1-minRateShare:
		say("requests left up to %.3g s late: %.3g of the stage", s.Slip.Max/1e3, s.slipped())
	}
	return c
}

// leastForRate is how few requests say nothing of a rate.
const leastForRate = 20

// slipped is the share of the stage by which the last requests were late: with
// a cap it is the service that holds them back, not the client.
func (s *Stage) slipped() float64 {
	if s.Concurrency > 0 {
		return 0
	}
	return ratio(s.Slip.P99/1e3, s.To-s.From)
}

// finest is the shortest time that was measured, in ms, and its name.
func (s *Stage) finest() (ms float64, name string) {
	for _, x := range []struct {
		d    Dist
		name string
	}{{s.ICL, "gap between chunks"}, {s.TTFT, "TTFT"}, {s.E2E, "time of a request"}} {
		if x.d.N > 0 && x.d.P50 > 0 {
			return x.d.P50, x.name
		}
	}
	return 0, ""
}

// governor is the policy of CPU 0's frequency, where the system tells: powersave
// doubles the first token's time of a client that wakes up for it.
func governor() string {
	b, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	if err != nil {
		return "" // no such policy here
	}
	return strings.TrimSpace(string(b))
}
