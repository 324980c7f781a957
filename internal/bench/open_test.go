package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// every is a trace of so many requests, one each gap.
func every(n int, gap time.Duration) *workload.Workload {
	w := &workload.Workload{Name: "test"}
	for i := range n {
		w.Requests = append(w.Requests, workload.Request{At: time.Duration(i) * gap, Input: 8, Output: 4})
	}
	return w
}

// The duration of an open load counts from the first measured request: a warm-up takes
// nothing from it, however it is given, and no request that is due is left out.
func TestWarmupLeavesTheDuration(t *testing.T) {
	trace := every(400, 100*ms)
	for _, x := range []struct {
		name           string
		set            func(*Config)
		warmup, counts int
	}{
		{"none", func(c *Config) {}, 0, 50},
		{"40 requests", func(c *Config) { c.Warmup = 40 }, 40, 50},
		{"more than the duration", func(c *Config) { c.Warmup = 60 }, 60, 50},
		{"a time", func(c *Config) { c.WarmupTime = 4 * time.Second }, 40, 50},
		{"with a grace", func(c *Config) { c.Warmup, c.Grace = 40, 100*ms }, 40, 50},
		{"so many requests", func(c *Config) { c.Warmup, c.Duration, c.Requests = 40, 0, 30 }, 40, 30},
		{"so many after a time", func(c *Config) { c.WarmupTime, c.Duration, c.Requests = 4*time.Second, 0, 30 }, 40, 30},
		{"sessions of three turns", func(c *Config) { c.Warmup, c.Turns = 30, 3 }, 30, 150},
		{"dialogues of two turns", func(c *Config) {
			c.Dialogues, c.Turns, c.Warmup = []Dialogue{{[]string{"a", "b"}, []int{4, 4}}}, 5, 20
		}, 20, 100},
		{"a trace", func(c *Config) { c.Levels[0], c.Trace, c.Warmup = Level{Mode: Traced}, trace, 40 }, 40, 50},
		{"a trace, a time", func(c *Config) { c.Levels[0], c.Trace, c.WarmupTime = Level{Mode: Traced}, trace, 4*time.Second }, 40, 50},
		{"a closed loop, a time", func(c *Config) {
			c.Levels[0], c.WarmupTime, c.Duration, c.Requests = Level{Mode: Closed, Concurrency: 2}, 130*ms, 0, 30
		}, 20, 30},
	} {
		w := evaluate(t, steady(10*ms, 4, ms), func(c *Config) {
			c.Levels, c.Requests, c.Duration = open(10), 0, 5*time.Second
			x.set(c)
		})
		if w.err != nil {
			t.Fatalf("%s: %v", x.name, w.err)
		}
		if s := &w.Stages[0]; s.Warmup != x.warmup || s.Requests.OK != x.counts || *s.Unsent != 0 {
			t.Errorf("%s: %d warm, %+v, %d unsent: want %d and %d", x.name, s.Warmup, s.Requests, *s.Unsent, x.warmup, x.counts)
		}
	}
}

// Of random arrivals the measured part is as long, however long the warm-up took.
func TestWarmupOfRandomArrivals(t *testing.T) {
	w := evaluate(t, steady(ms, 1, 0), func(c *Config) {
		c.Levels, c.Requests, c.Duration, c.Warmup, c.Seed = open(10), 0, 60*time.Second, 200, 2
		c.Levels[0].Arrival.Process, c.Levels[0].Arrival.Variation = workload.Poisson, 1
	})
	s := &w.Stages[0]
	if s.Warmup != 200 || *s.Unsent != 0 || s.To-s.From < 58 || s.To-s.From > 60.1 || s.Requests.OK < 540 || s.Requests.OK > 660 {
		t.Errorf("%d warm, %+v over %g s", s.Warmup, s.Requests, s.To-s.From)
	}
}

func TestWarmupOfAWholeTrace(t *testing.T) {
	for _, set := range []func(*Config){func(c *Config) { c.Warmup = 20 }, func(c *Config) { c.WarmupTime = 2 * time.Second }} {
		w := evaluate(t, steady(ms, 1, 0), func(c *Config) {
			c.Levels, c.Trace, c.Requests = []Level{{Mode: Traced}}, every(20, 100*ms), 0
			set(c)
		})
		if w.err == nil || !strings.Contains(w.err.Error(), "all 20 requests of the trace") {
			t.Errorf("%v", w.err)
		}
	}
}

// Random arrivals have no steady window: their peak is a burst.
func TestBurstIsNoSteadyLoad(t *testing.T) {
	w := evaluate(t, steady(20*ms, 4, 10*ms), func(c *Config) {
		c.Levels, c.Requests, c.Duration = open(6), 0, 20*time.Second
		c.Levels[0].Arrival.Process, c.Levels[0].Arrival.Variation = workload.Poisson, 1
	})
	if s := &w.Stages[0]; s.Requests.OK < 60 || s.Steady != nil {
		t.Errorf("%+v, steady %+v", s.Requests, s.Steady)
	}
}
