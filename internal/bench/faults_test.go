package bench

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// A service that is killed and comes back three seconds later: what was in flight
// is truncated, what came in between has no connection, and the rest is answered.
func TestServiceIsKilledAndRestarts(t *testing.T) {
	var mu sync.Mutex
	down := time.Time{}
	w := &world{}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		w.run(ctx, stop, func(a *asked, s *stream) {
			s.tokens(5, 10*ms)
			mu.Lock()
			if a.N == 40 {
				down = time.Now().Add(3 * time.Second)
			}
			killed := time.Now().Before(down)
			mu.Unlock()
			if killed {
				panic(http.ErrAbortHandler)
			}
			s.tokens(5, 10*ms)
			s.end(8, 10)
		}, func(c *Config) {
			c.Levels, c.Requests = []Level{{Mode: Closed, Concurrency: 8}}, 200
			dial := c.Service.Dial
			c.Service.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				mu.Lock()
				defer mu.Unlock()
				if time.Now().Before(down) {
					return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
				}
				return dial(ctx, network, address)
			}
		})
	})
	s := &w.Stages[0]
	q := s.Requests
	if q.Sent != 200 || q.Sent != q.OK+q.Failed+q.Truncated+q.Cancelled || q.OK < 100 || s.Classes["connect"] == 0 || q.Truncated == 0 || q.Truncated > 8 {
		t.Errorf("%+v %v", q, s.Classes)
	}
	for _, r := range w.records {
		if r.Outcome == Truncated && len(r.Chunks) != 5 {
			t.Errorf("request %s: %d chunks were received, 5 were sent", r.ID, len(r.Chunks))
		}
	}
}

// A service that leaves the connection open after [DONE] does not hold up the next
// request for long, and takes nothing from the answer.
func TestConnectionStaysOpenAfterDone(t *testing.T) {
	w := evaluate(t, func(_ *asked, s *stream) {
		s.tokens(4, 10*ms)
		s.end(8, 4)
		s.sleep(time.Hour)
	}, func(c *Config) { c.Requests = 3 })
	if s := &w.Stages[0]; s.Requests.OK != 3 || s.To-s.From > 1 {
		t.Errorf("%+v over %g s", s.Requests, s.To-s.From)
	}
}

// Warm-up requests are load, and hand over without a drain.
func TestWarmupHandsOver(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) { steady(time.Duration(50+a.N%3*30)*ms, 4, 10*ms)(a, s) }, func(c *Config) {
		c.Levels, c.Requests, c.Warmup = []Level{{Mode: Closed, Concurrency: 4}}, 40, -1
	})
	s := &w.Stages[0]
	if s.Warmup != 8 || s.Requests.Sent != 40 || len(w.asked) != 48 {
		t.Fatalf("%d to warm up, %d measured, %d came", s.Warmup, s.Requests.Sent, len(w.asked))
	}
	for _, l := range levels(w.records) {
		if l.at > 60*ms && l.at < SpanOf(w.records).To-300*ms && l.n < 4 {
			t.Errorf("%d in flight at %v", l.n, l.at)
		}
	}
}

// The records of two workers, joined, say what one client would have said.
func TestMergeIsExact(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) { steady(time.Duration(50+a.N*17%90)*ms, 12, 10*ms)(a, s) }, func(c *Config) {
		c.Levels, c.Requests, c.Warmup = []Level{{Mode: Closed, Concurrency: 4}, {Mode: Closed, Concurrency: 2}}, 60, 4
	})
	half := []*Origin{{}, {}}
	var parts []*Record
	for i, r := range w.records {
		x := *r
		o := *r.Origin
		o.Worker, o.Level = string(rune('a'+i%2)), o.Level/2
		shift := time.Duration(i%2) * time.Second // the second worker started a second earlier
		o.Started -= shift.Seconds()
		if *half[i%2] != o {
			half[i%2] = &o
		}
		x.Origin = half[i%2]
		parts = append(parts, x.after(shift))
	}
	d, err := Merge([]*Recorded{{Records: parts}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.Stages {
		got, want := d.Stages[i].Summary, w.Stages[i].Summary
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-6, 1e-6), cmpopts.IgnoreFields(Summary{}, "From", "To")); diff != "" {
			t.Error(diff)
		}
		if d.Stages[i].Concurrency != w.Stages[i].Concurrency {
			t.Errorf("%d in flight, want %d", d.Stages[i].Concurrency, w.Stages[i].Concurrency)
		}
	}
}

// Workers that never ran together have no common load.
func TestMergeRefusesRunsApart(t *testing.T) {
	var list []*Record
	for i, started := range []float64{100, 104.5, 900} {
		o := &Origin{Run: "x", Worker: string(rune('a' + i)), Model: "m", URL: "http://" + string(rune('a'+i)), Started: started, Mode: Closed, Level: 1}
		list = append(list, &Record{ID: "1", Origin: o, Scheduled: 1, End: 5 * time.Second})
	}
	if _, err := Merge([]*Recorded{{Records: list}}, nil); err == nil || !strings.Contains(err.Error(), "x c began 7") {
		t.Error(err)
	}
	if d, err := Merge([]*Recorded{{Records: list[:2]}}, nil); err != nil || len(d.Warnings) != 1 {
		t.Errorf("%v, %v: of two addresses one warning is due", d, err)
	}
}

// A service whose TTFT grows with what is in flight: the search finds the bend.
func TestSearchFindsTheBend(t *testing.T) {
	var mu sync.Mutex
	flying := 0
	w := evaluate(t, func(a *asked, s *stream) {
		mu.Lock()
		flying++
		wait := time.Duration(flying) * 10 * ms
		mu.Unlock()
		s.tokens(1, wait)
		s.tokens(9, 10*ms)
		s.end(8, 10)
		mu.Lock()
		flying--
		mu.Unlock()
	}, func(c *Config) {
		c.Levels, c.Search, c.SLO = nil, &Search{Mode: Closed, Low: 1, High: 512}, &SLO{TTFT: 0.2, At: "max"}
		c.Requests = 200
	})
	if w.Best == nil || w.Best.Concurrency == nil || *w.Best.Concurrency < 19 || *w.Best.Concurrency > 20 || len(w.Stages) > searchStages {
		t.Errorf("%+v after %d stages, want 20 in flight", w.Best, len(w.Stages))
	}
}

func TestPresetsFillWhatIsLeftOut(t *testing.T) {
	p, ok := FindPreset("inferencex")
	c := Config{Input: workload.Length{Low: 1000, High: 1000}, Output: workload.Length{Low: 100, High: 100}, Warmup: -1}
	if p.Set(&c, func(flag string) bool { return flag == "isl" }); !ok || c.Input.Low != 800 || c.Output.Low != 80 || c.Service.Endpoint != openai.Completions || c.Prompts != TokenIDs {
		t.Errorf("%+v", c)
	}
	warm, n, _ := c.bounds(Level{Mode: Closed, Concurrency: 16})
	if warm != 32 || n != 160 {
		t.Errorf("%d to warm up and %d requests, want 32 and 160", warm, n)
	}
	if slices.ContainsFunc(Presets, func(p Preset) bool { return p.Text == "" }) {
		t.Error("a preset does not say how its metrics correspond")
	}
}
