package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/workload"
)

func told(s *Stage, words string) bool {
	return slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, words) })
}

func testConnectionsAreReused(t *testing.T) {
	w := evaluate(t, steady(10*ms, 4, ms), func(c *Config) { c.Requests = 10 })
	if w.dials != 1 || w.records[0].Connection.Reused || !w.records[9].Connection.Reused {
		t.Errorf("%d connections for 10 requests one after another", w.dials)
	}
	w = evaluate(t, steady(10*ms, 4, ms), func(c *Config) { c.Requests, c.Service.Reconnect = 10, true })
	if w.dials != 10 || w.records[9].Connection.Reused {
		t.Errorf("%d connections where each was to be new", w.dials)
	}
}

func testDelayedAcknowledgements(t *testing.T) {
	testConnectionsAreReused(t)
	for late, want := range map[time.Duration]bool{0: false, 40 * ms: true, 400 * ms: false} {
		w := evaluate(t, func(a *asked, s *stream) {
			first := 25 * ms
			if a.N > 0 { // on the connection that is kept
				first += late
			}
			steady(first, 4, 10*ms)(a, s)
		}, func(c *Config) { c.Requests = 10 })
		if s := &w.Stages[0]; told(s, "TCP_NODELAY") != want {
			t.Errorf("%v later on a kept connection: %q", late, s.Warnings)
		}
	}
}

func testClientIsDescribed(t *testing.T) {
	s, _ := one(t, func(a *asked, st *stream) {
		st.sleep(30 * ms)
		st.role() // the head goes out
		st.tokens(4, 50*ms)
		st.end(8, 4)
	}, nil)
	near(t, "TTFB", s.TTFB.P50, 30)
	near(t, "TTFT", s.TTFT.P50, 80)
	b, err := json.Marshal(newReport(&Config{}))
	if err != nil || !strings.Contains(string(b), `"governor"`) || !strings.Contains(string(b), `"cpus"`) {
		t.Errorf("%s, %v", b, err)
	}
}

// Two at a time of 100 ms each, ten due at once: the last waits 400 ms.
func testWaitForAPlaceCounts(t *testing.T) {
	w := evaluate(t, steady(100*ms, 1, 0), func(c *Config) { c.Levels, c.Cap, c.Requests = open(1e6), 2, 10 })
	s := &w.Stages[0]
	near(t, "longest response E2E", s.E2E.Max, 500-0.008) // the tenth is due 9 us after the first, begins at 400 ms + what the first began at
	near(t, "service E2E", s.Other.E2E.Max, 100)
	if s.Queue.Max < 390 || s.Basis != Response || s.Concurrency != 2 || !told(s, "no longer come as constant") {
		t.Errorf("queue %+v, basis %s, warnings %q", s.Queue, s.Basis, s.Warnings)
	}
}

// A service that answers nothing for a second: the requests of that second are
// sent all the same, and what they waited shows.
func testStallDelaysNoSend(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) {
		if left := 2*time.Second - a.At; a.At > time.Second && left > 0 {
			s.sleep(left)
		}
		steady(10*ms, 2, 10*ms)(a, s)
	}, func(c *Config) { c.Levels, c.Requests = open(100), 300 })
	s := &w.Stages[0]
	late := 0
	for _, r := range w.records {
		if d, _ := r.TTFT(Response); d > 100*ms {
			late++
		}
		if d, _ := r.Slip(); d > ms {
			t.Errorf("request %s was sent %v late", r.ID, d)
		}
	}
	if late < 85 || s.TTFT.Max < 950 {
		t.Errorf("%d requests waited, the longest %g ms: the stall is hidden", late, s.TTFT.Max)
	}
}

func testRateDoesNotDrift(t *testing.T) {
	w := evaluate(t, steady(900*ms, 2, 10*ms), func(c *Config) { c.Levels, c.Requests = open(20), 1200 })
	s := &w.Stages[0]
	if s.Requests.Sent != 1200 {
		t.Fatalf("%+v", s.Requests)
	}
	near(t, "rate", float64(s.Achieved), 20)
	near(t, "slip", s.Slip.Max+1, 1)
	last := w.asked[1199].At - w.asked[0].At
	near(t, "the last request's time", milliseconds(last), 1199*50)
}

func testSessionsArriveByThemselves(t *testing.T) {
	w := evaluate(t, steady(3*time.Second, 2, 10*ms), func(c *Config) {
		c.Levels, c.Turns, c.Requests, c.Think = open(1), 3, 30, 500*ms
	})
	var firsts []time.Duration
	for _, r := range w.records {
		if r.Turn == 0 {
			firsts = append(firsts, r.Dispatched)
		}
	}
	slices.Sort(firsts)
	near(t, "rate of sessions", float64(w.Stages[0].Achieved), 1)
	if len(firsts) != 10 || firsts[9]-firsts[0] != 9*time.Second {
		t.Errorf("%d sessions over %v: they wait for answers", len(firsts), firsts[len(firsts)-1]-firsts[0])
	}
}

func testStageWaitsForItsRequests(t *testing.T) {
	w := evaluate(t, steady(10*time.Second, 2, 10*ms), func(c *Config) { c.Levels, c.Requests = open(1000), 50 })
	if s := &w.Stages[0]; s.Requests.OK != 50 || *s.Unsent != 0 {
		t.Errorf("%+v, %d unsent", s.Requests, *s.Unsent)
	}
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Second+500*ms)
		defer stop()
		w.run(ctx, stop, steady(10*time.Second, 2, 10*ms), func(c *Config) { c.Levels, c.Requests = open(1), 10 })
		s := &w.Stages[0]
		if *s.Unsent != 7 || s.Requests.Cancelled != 3 || s.Requests.Sent != 3 || !s.Partial || !w.Partial {
			t.Errorf("interrupted: %+v, %d unsent, partial %v", s.Requests, *s.Unsent, s.Partial)
		}
	})
}

func testBusyClientIsNotValid(t *testing.T) {
	h := &health{begun: time.Now().Add(-time.Hour), cpu: cpuTime(), gc: gcPause()}
	for i := range 1000 {
		h.late = append(h.late, float64(i%50)) // up to 49 ms late
	}
	h.stamps = h.late
	s := &Stage{Mode: Closed}
	s.ICL = Dist{N: 100, P50: 20}
	if c := h.judge(s); c.Valid || !strings.Contains(strings.Join(c.Reasons, ";"), "took times 49") {
		t.Errorf("%+v", c)
	}
	h.stamps = slices.Repeat([]float64{0.1}, 1000) // the system stamped what was consumed late
	if c := h.judge(s); !c.Valid {
		t.Errorf("%+v", c)
	}
	s.E2E = Dist{N: 10, P50: 400} // the next requests begin late
	if c := h.judge(s); c.Valid || !strings.Contains(strings.Join(c.Reasons, ";"), "median time of a request") {
		t.Errorf("%+v", c)
	}
	s.E2E.P50 = 500
	if c := h.judge(s); !c.Valid {
		t.Errorf("%+v", c)
	}
}

func testClosedLoopHasNoWaves(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) {
		steady(time.Duration(20+a.N*37%50)*ms, 4, 10*ms)(a, s)
	}, func(c *Config) { c.Levels, c.Requests = []Level{{Mode: Closed, Concurrency: 4}}, 40 })
	ends := map[time.Duration]bool{}
	for _, r := range w.records {
		ends[r.End] = true
	}
	for _, r := range w.records[4:] {
		if r.Dispatched > ms && !ends[r.Dispatched] {
			t.Errorf("request %s began at %v, when none had ended", r.ID, r.Dispatched)
		}
	}
	if s := w.Stages[0]; s.Steady == nil || s.Steady.InFlight < 3.99 || s.Steady.InFlight > 4.01 {
		t.Errorf("steady %+v, want 4 in flight", s.Steady)
	}
}

// Fewer requests than users, or about as many, never put the load on that the stage is
// called by: the report says how many were in flight. Users who think are no such case.
func testEmptyPlacesAreTold(t *testing.T) {
	for _, x := range []struct {
		users, requests, warmup int
		think                   time.Duration
		told                    bool
	}{{32, 8, -1, 0, true}, {32, 16, -1, 0, true}, {16, 12, 0, 0, true}, {32, 40, 0, 0, true}, {32, 160, -1, 0, false}, {4, 4, 0, 0, false}, {1, 10, 0, 0, false},
		{4, 40, 0, time.Second, false}, {4, 2, 0, time.Second, true}} {
		w := evaluate(t, steady(100*ms, 4, 10*ms), func(c *Config) {
			c.Levels, c.Requests, c.Warmup, c.Think, c.Turns = []Level{{Mode: Closed, Concurrency: x.users}}, x.requests, x.warmup, x.think, 1
			if x.think > 0 {
				c.Turns = 2
			}
		})
		if s := &w.Stages[0]; told(s, fmt.Sprintf("of %d were in flight", x.users)) != x.told || x.told && told(s, "less than half") {
			t.Errorf("%+v: %.3g in flight, %q", x, s.InFlight, s.Warnings)
		}
	}
}

// Three hundred requests are answered only once all are there.
func testManyAtOnce(t *testing.T) {
	const n = 300
	var mu sync.Mutex
	here, all := 0, make(chan struct{})
	var once sync.Once
	w := &world{}
	synctest.Test(t, func(t *testing.T) {
		all = make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		w.run(ctx, stop, func(a *asked, s *stream) {
			mu.Lock()
			if here++; here == n {
				once.Do(func() { close(all) })
			}
			mu.Unlock()
			select {
			case <-all:
			case <-s.r.Context().Done():
				return
			case <-time.After(time.Minute):
				t.Error("some request waits in the client")
				return
			}
			steady(10*ms, 2, 10*ms)(a, s)
		}, func(c *Config) { c.Levels, c.Requests = []Level{{Mode: Closed, Concurrency: n}}, 3*n })
	})
	if w.dials != n || w.Stages[0].Requests.OK != 3*n {
		t.Errorf("%d connections, %+v: want %d, kept", w.dials, w.Stages[0].Requests, n)
	}
}

func testUploadIsApart(t *testing.T) {
	w := &world{}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		slow := func(c *Config) {
			dial := c.Service.Dial
			c.Input = workload.Length{Low: 50_000, High: 50_000}
			c.Service.Dial = slowDial(dial, 10*ms)
		}
		w.run(ctx, stop, func(_ *asked, s *stream) { // its head comes after the client has noted that all was written
			s.sleep(100 * ms)
			s.tokens(1, 0)
			s.tokens(3, 10*ms)
			s.end(8, 4)
		}, slow)
	})
	s := &w.Stages[0]
	if s.Requests.OK != 1 || s.Upload.P50 < 30 {
		t.Fatalf("%+v %v, upload %+v", s.Requests, s.Classes, s.Upload)
	}
	near(t, "TTFT from sent", s.TTFT.P50, 100)
	near(t, "TTFT from due less upload", s.Other.TTFT.P50-s.Upload.P50, 100)
}

func testStageEndsByTime(t *testing.T) {
	w := evaluate(t, steady(900*ms, 11, 10*ms), func(c *Config) {
		c.Levels = []Level{{Mode: Closed, Concurrency: 1}, {Mode: Closed, Concurrency: 4}}
		c.Requests, c.Duration = 0, 10*time.Second
	})
	a, b := &w.Stages[0], &w.Stages[1]
	if a.Requests.OK != 10 || b.Requests.OK != 40 {
		t.Errorf("%d and %d requests of a second each within 10 s, want 10 and 40", a.Requests.OK, b.Requests.OK)
	}
}

func testCancelledTokensCount(t *testing.T) {
	w := evaluate(t, steady(10*ms, 1000, 10*ms), func(c *Config) {
		c.Levels, c.Requests, c.Duration, c.Grace = []Level{{Mode: Closed, Concurrency: 2}}, 0, 2*time.Second, time.Second
	})
	s := &w.Stages[0]
	if s.Requests.Cancelled != 2 || s.Requests.Sent != 2 || s.TTFT.N != 0 {
		t.Fatalf("%+v, TTFT %+v", s.Requests, s.TTFT)
	}
	if s.OutputRate < 190 || s.OutputRate > 201 { // two streams of 100 tokens/s
		t.Errorf("%g tokens/s, want 200: what came of cancelled answers is output", s.OutputRate)
	}
}

func testFailuresAreNoLatency(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) {
		switch a.N % 3 {
		case 0:
			s.w.WriteHeader(500)
		case 1: // fast first token, then cut
			s.tokens(1, ms)
			panic(http.ErrAbortHandler)
		default:
			steady(100*ms, 4, 10*ms)(a, s)
		}
	}, func(c *Config) { c.Requests, c.SLO = 9, &SLO{TTFT: 10, At: "mean"} })
	s := &w.Stages[0]
	if s.TTFT.N != 3 || s.Requests.Failed != 3 || s.Requests.Truncated != 3 || *s.GoodShare != 1./3 {
		t.Errorf("%+v %v, TTFT of %d, good share %g", s.Requests, s.Classes, s.TTFT.N, *s.GoodShare)
	}
	near(t, "TTFT", s.TTFT.Min, 100)
}

func testGoodput(t *testing.T) {
	w := evaluate(t, steady(10*ms, 100, 10*ms), func(c *Config) { // 1 s each
		c.Levels, c.Requests, c.Duration, c.Grace, c.SLO = []Level{{Mode: Closed, Concurrency: 1}}, 0, 1500*ms, 10*ms, &SLO{TTFT: 1, At: "mean"}
	})
	if s := &w.Stages[0]; s.Requests.OK != 1 || s.Requests.Cancelled != 1 || *s.GoodShare != 1 {
		t.Errorf("%+v, good share %v: what the client gave up is not the service's", s.Requests, *s.GoodShare)
	} else {
		near(t, "goodput", *s.Goodput, 1/(s.To-s.From))
	}
	w = evaluate(t, whole, func(c *Config) { c.Stream, c.SLO = false, &SLO{TTFT: 1, At: "mean"} })
	if s := &w.Stages[0]; s.Requests.OK != 1 || s.Goodput != nil || s.GoodShare != nil {
		t.Errorf("goodput %v by a TTFT that answers which are not streamed do not have", s.Goodput)
	}
	if w := evaluate(t, steady(ms, 2, ms), nil); w.Stages[0].Goodput != nil {
		t.Error("goodput without an objective")
	}
}

// whole answers without a stream.
func whole(_ *asked, s *stream) {
	s.sleep(50 * ms)
	json.NewEncoder(s.w).Encode(object{"choices": []object{{"message": object{"content": "a b c d"}, "finish_reason": "length"}}, "usage": usageOf(8, 4)["usage"]})
}

func testErrorInStream(t *testing.T) {
	s, r := one(t, func(_ *asked, s *stream) {
		s.tokens(2, 10*ms)
		s.event(object{"error": object{"message": "out of blocks", "code": 500}})
		s.raw("data: [DONE]\n\n")
	}, nil)
	if s.Requests.Failed != 1 || r.Class != openai.ErrorObject || r.Reason != "out of blocks" || s.TTFT.N != 0 {
		t.Errorf("%+v, %s %q", s.Requests, r.Class, r.Reason)
	}
}

// faults are answers that are none, and the classes they end in.
var faults = map[openai.Class]script{
	openai.HTTPStatus:  func(_ *asked, s *stream) { s.w.WriteHeader(500) },
	openai.RateLimited: func(_ *asked, s *stream) { s.w.Header().Set("Retry-After", "7"); s.w.WriteHeader(429) },
	openai.Unavailable: func(_ *asked, s *stream) { s.w.Header().Set("Retry-After", "7"); s.w.WriteHeader(503) },
	openai.Redirected:  func(_ *asked, s *stream) { s.w.Header().Set("Location", "http://other/v1"); s.w.WriteHeader(307) },
	openai.Reset:       func(_ *asked, s *stream) { s.tokens(2, ms); panic(http.ErrAbortHandler) },
	openai.HalfEvent: func(_ *asked, s *stream) {
		s.tokens(2, ms)
		s.raw(`data: {"choices": [{"del`)
	},
	openai.Garbage: func(_ *asked, s *stream) {
		s.tokens(2, ms)
		s.raw("data: \x00\xff{{{\n\n")
	},
	openai.Stall:       func(_ *asked, s *stream) { s.tokens(2, ms); s.sleep(time.Hour) },
	openai.SlowHeaders: func(_ *asked, s *stream) { s.sleep(time.Hour) },
	openai.Overtime:    func(_ *asked, s *stream) { s.tokens(100_000, 500*ms) },
	openai.ErrorObject: func(_ *asked, s *stream) { s.event(object{"object": "error", "message": "no"}) },
	openai.NoFinish:    func(_ *asked, s *stream) { s.tokens(2, ms); s.raw("data: [DONE]\n\n") },
	openai.NoDone:      func(_ *asked, s *stream) { s.tokens(2, ms); s.finish() },
	openai.Empty:       func(_ *asked, s *stream) { s.role(); s.end(8, 0) },
	openai.TooLarge:    func(_ *asked, s *stream) { s.raw("data: " + strings.Repeat("x", 9000) + "\n\n") },
}

func testFailuresAreCounted(t *testing.T) {
	for class, answer := range faults {
		w := evaluate(t, func(a *asked, s *stream) {
			if a.N == 1 {
				answer(a, s)
				return
			}
			steady(10*ms, 4, 10*ms)(a, s)
		}, func(c *Config) {
			c.Requests = 3
			c.Service.Limits = openai.Limits{Headers: 20 * time.Second, Idle: 5 * time.Second, Total: time.Minute, Event: 8000}
		})
		s := &w.Stages[0]
		if q := s.Requests; s.Classes[string(class)] != 1 || q.OK != 2 || q.Sent != 3 || q.Sent != q.OK+q.Failed+q.Truncated+q.Cancelled {
			t.Errorf("%s: %+v %v", class, q, s.Classes)
		}
		if r := w.records[1]; r.Reason == "" || strings.Contains(fmt.Sprint(*r), "sk-secret") {
			t.Errorf("%s: reason %q", class, r.Reason)
		}
	}
}

func testNothingIsRepeated(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) {
		if a.N%2 == 0 {
			faults[openai.Unavailable](a, s)
			return
		}
		steady(10*ms, 4, 10*ms)(a, s)
	}, func(c *Config) { c.Requests = 10 })
	s := &w.Stages[0]
	if len(w.asked) != 10 || s.Requests.Sent != 10 || s.Requests.Failed != 5 || w.records[0].RetryAfter != 7*time.Second {
		t.Errorf("%d requests came for %d, %+v, retry after %v", len(w.asked), s.Requests.Sent, s.Requests, w.records[0].RetryAfter)
	}
}

// Eight answers of a second and one of twenty.
func testStraggler(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) {
		n := 100
		if a.N == 63 {
			n = 2000
		}
		steady(10*ms, n, 10*ms)(a, s)
	}, func(c *Config) { c.Levels, c.Requests = []Level{{Mode: Closed, Concurrency: 8}}, 64 })
	s := &w.Stages[0]
	if s.Steady == nil || s.OutputRate > 350 || s.Steady.OutputRate < 780 || s.Steady.OutputRate > 801 {
		t.Fatalf("%g tokens/s over the whole, steady %+v; want 300 and 800", s.OutputRate, s.Steady)
	}
	if c := s.Steady.Coverage; c < 0.28 || c > 0.3 { // 8 of 27 s
		t.Errorf("the window covers %g of the stage", c)
	}
}

func testPromptsAreNew(t *testing.T) {
	seen := map[string]int{}
	for _, nonce := range []string{"", ""} { // two runs with the same seed
		w := evaluate(t, steady(ms, 4, ms), func(c *Config) {
			c.Levels = []Level{{Mode: Closed, Concurrency: 1}, {Mode: Closed, Concurrency: 2}, {Mode: Open, Arrival: workload.Arrival{Rate: 10}}}
			c.Requests, c.Warmup, c.Nonce = 20, -1, nonce
		})
		for _, a := range w.asked {
			seen[a.text()]++
		}
	}
	if len(seen) != 2*(22+24+20) {
		t.Errorf("%d different prompts of %d", len(seen), 2*66)
	}
}

func testPrefixCacheIsTold(t *testing.T) {
	hits := 0.3
	s := &Stage{Server: &ServerMetrics{PrefixHits: &hits}}
	if list := s.serverWarnings(&Config{Turns: 1}, nil); len(list) != 1 || !strings.Contains(list[0].Text, "30.0 %") {
		t.Errorf("%q", list)
	}
	before := scrape{"vllm:prefix_cache_hits_total": 100, "vllm:prefix_cache_queries_total": 1000}
	after := scrape{"vllm:prefix_cache_hits_total": 400, "vllm:prefix_cache_queries_total": 2000}
	m := &ServerMetrics{Names: "vllm"}
	if m.between(before, after); m.PrefixHits == nil || *m.PrefixHits != 0.3 {
		t.Errorf("hit rate %v, want 0.3", m.PrefixHits)
	}
	m, after["vllm:prefix_cache_hits_total"] = &ServerMetrics{Names: "vllm"}, 3100
	if m.between(before, after); m.PrefixHits != nil {
		t.Errorf("hit rate %v of three hits a query, want none", *m.PrefixHits)
	}
	w := sampler{quit: make(chan struct{})}
	w.take(scrape{"vllm:num_requests_running": -4, "vllm:num_requests_waiting": 2, "vllm:kv_cache_usage_perc": 1.5})
	if got := w.finish(); got.Running.N != 0 || got.Cache.N != 0 || got.Waiting.N != 1 {
		t.Errorf("running %+v, waiting %+v, cache %+v of figures that cannot be", got.Running, got.Waiting, got.Cache)
	}
}

func testPromptLengthIsChecked(t *testing.T) {
	// A service that counts 2 tokens a word and a template of 10.
	count := func(a *asked) int { return 2*len(strings.Fields(a.text())) + 10 }
	answer := func(wrong int) script {
		return func(a *asked, s *stream) {
			s.tokens(4, 10*ms)
			s.end(count(a)+wrong*boolInt(a.N > 2), 4)
		}
	}
	set := func(c *Config) { c.Requests, c.NoCheck, c.Input = 5, false, workload.Length{Low: 1000, High: 1000} }
	w := evaluate(t, answer(0), set)
	if s := &w.Stages[0]; s.Input.Min != 1000 || s.Input.Max != 1000 || told(s, "prompts are not as long") {
		t.Errorf("1000 tokens asked, %+v, %q", s.Input, s.Warnings)
	}
	w = evaluate(t, answer(50), set)
	if s := &w.Stages[0]; s.Input.Max != 1050 || !told(s, "prompts are not as long") {
		t.Errorf("%+v, %q: the service's count is the length", s.Input, s.Warnings)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func testImpossibleLengthIsRefused(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) {
		s.tokens(1, ms)
		s.end(len(strings.Fields(a.text()))+10, 1)
	}, func(c *Config) { c.NoCheck, c.Input = false, workload.Length{Low: 1, High: 1} })
	var wrong *InputError
	if !errors.As(w.err, &wrong) || !strings.Contains(w.err.Error(), "at least 11") {
		t.Errorf("%v", w.err)
	}
}

func testTraceIsExpanded(t *testing.T) {
	trace := &workload.Workload{Name: "t", BlockTokens: 4, Requests: []workload.Request{
		{At: 0, Input: 8, Output: 2, Blocks: []uint64{1, 2}}, {At: time.Second, Input: 10, Output: 3, Blocks: []uint64{1, 2, 3}}, {At: 3 * time.Second, Input: 5, Output: 1, Blocks: []uint64{9, 8}}}}
	w := evaluate(t, func(a *asked, s *stream) { s.tokens(a.Max, 10*ms); s.end(len(strings.Fields(a.text())), a.Max) },
		func(c *Config) {
			c.Levels, c.Trace, c.Requests, c.Speed, c.Input, c.Output = []Level{{Mode: Traced}}, trace, 0, 2, workload.Length{}, workload.Length{}
		})
	s := &w.Stages[0]
	if s.Requests.OK != 3 || len(w.asked) != 3 || w.asked[2].At-w.asked[0].At != 1500*ms {
		t.Fatalf("%+v, %d asked", s.Requests, len(w.asked))
	}
	near(t, "rate of the trace", s.Rate, 2/1.5)
	near(t, "rate achieved", float64(s.Achieved), 2/1.5)
	a, b := strings.Fields(w.asked[0].text()), strings.Fields(w.asked[1].text())
	if len(a) != 8 || len(b) != 10 || !slices.Equal(a, b[:8]) || w.asked[1].Max != 3 {
		t.Errorf("%q and %q: prompts of a trace share what its blocks say", a, b)
	}
}

func testHistoryIsContent(t *testing.T) {
	for _, echo := range []bool{false, true} {
		w := evaluate(t, func(_ *asked, s *stream) {
			s.sleep(ms)
			s.delta(object{"reasoning_content": "secret thought"})
			s.tokens(3, ms)
			s.end(8, 4)
		}, func(c *Config) { c.Turns, c.Requests, c.EchoReasoning = 3, 3, echo })
		m := w.asked[2].Messages
		if len(m) != 5 || m[1].Role != "assistant" || m[1].Content != "word word word " || (m[1].Reasoning != "") != echo {
			t.Errorf("echo %v: %+v", echo, m)
		}
		if r := w.records[2]; r.Text != "" || r.Prompt != "" {
			t.Error("texts are kept though nobody asked")
		}
	}
}
