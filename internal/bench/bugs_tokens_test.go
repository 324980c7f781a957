package bench

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/openai"
)

func one(t *testing.T, answer script, set func(*Config)) (*Stage, *Record) {
	t.Helper()
	w := evaluate(t, answer, set)
	if w.err != nil || len(w.Stages) != 1 || len(w.records) != 1 {
		t.Fatalf("%v, %d stages, %d records", w.err, len(w.Stages), len(w.records))
	}
	return &w.Stages[0], w.records[0]
}

func testSeveralTokensPerChunk(t *testing.T) {
	chunks := func(continuous bool) script {
		return func(a *asked, s *stream) {
			if !a.Options["continuous_usage_stats"] {
				t.Error("the usage of every chunk was not asked for")
			}
			n := 1
			for i := range 4 { // 1, 5, 5, 5 tokens, 50 ms apart
				s.sleep(50 * ms)
				if i > 0 {
					n += 5
				}
				if continuous {
					s.delta(object{"content": "words words"}, usageOf(8, n))
				} else {
					s.delta(object{"content": "words words"})
				}
			}
			s.end(8, 16)
		}
	}
	s, _ := one(t, chunks(true), nil)
	if s.ITL == nil || s.ITL.N != 15 {
		t.Fatalf("ITL %+v, want the gaps of 15 tokens", s.ITL)
	}
	near(t, "ITL", s.ITL.P99, 10)
	near(t, "ICL", s.ICL.P50, 50)
	s, _ = one(t, chunks(false), nil)
	if s.ITL != nil || !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "no inter-token latency") }) {
		t.Errorf("the service ignored the option: ITL %+v, warnings %q", s.ITL, s.Warnings)
	}
}

func testChunksOfTen(t *testing.T) {
	s, _ := one(t, func(_ *asked, s *stream) {
		s.tokens(3, time.Second)
		s.end(8, 30)
	}, nil)
	near(t, "ICL", s.ICL.P50, 1000)
	near(t, "TPOT", s.TPOT.P50, 2000./29)
	if s.ITL != nil || s.PerChunk != 10 {
		t.Errorf("ITL %+v, %g tokens per chunk, want none and 10", s.ITL, s.PerChunk)
	}
}

func testTPOTLeavesTheFirstTokenOut(t *testing.T) {
	s, _ := one(t, steady(time.Second, 11, 20*ms), nil)
	near(t, "TPOT", s.TPOT.P50, 20)
	near(t, "time per output token", s.PerToken.P50, 1200./11)
}

func testStallShows(t *testing.T) {
	s, _ := one(t, func(_ *asked, s *stream) {
		s.tokens(50, 10*ms)
		s.tokens(1, 5*time.Second)
		s.tokens(49, 10*ms)
		s.end(8, 100)
	}, nil)
	near(t, "longest ICL", s.ICL.Max, 5000)
	near(t, "longest gap of the request", s.MaxGap.P50, 5000)
	near(t, "median ICL", s.ICL.P50, 10)
}

func testChunksAreNotTokenised(t *testing.T) {
	s, _ := one(t, func(_ *asked, s *stream) {
		for range 5 {
			s.sleep(30 * ms)
			s.delta(object{"content": "antidisestablishmentarianism, "}) // one token by the service's count
		}
		s.end(8, 5)
	}, nil)
	if s.ITL == nil || s.ITL.N != 4 || s.Output.P50 != 5 {
		t.Fatalf("ITL %+v, output %+v", s.ITL, s.Output)
	}
	near(t, "ITL", s.ITL.P50, 30)
}

func testFirstWaitIsNoGap(t *testing.T) {
	s, r := one(t, steady(2*time.Second, 20, 10*ms), nil)
	if len(r.Gaps()) != len(r.Chunks)-1 || s.ICL.N != 19 || s.ITL.N != 19 {
		t.Errorf("%d gaps of %d chunks", len(r.Gaps()), len(r.Chunks))
	}
	near(t, "longest ITL", s.ITL.Max, 10)
	near(t, "TTFT", s.TTFT.Max, 2000)
}

func testNoGapIsNotZero(t *testing.T) {
	s, r := one(t, func(_ *asked, s *stream) { // a parser swallows all steps but one
		s.sleep(700 * ms)
		s.delta(object{"tool_calls": []object{{"index": 0, "function": object{"name": "f", "arguments": "{}"}}}})
		s.finish()
		s.raw("data: [DONE]\n\n")
	}, func(c *Config) { c.Output.Low, c.Output.High = 300, 300 })
	if n, known := r.Tokens(); n != 1 || known || s.TPOT.N != 0 || s.ICL.N != 0 || s.ITL != nil {
		t.Errorf("%d tokens (%v), TPOT %+v, ICL %+v: the length asked for is no count", n, known, s.TPOT, s.ICL)
	}
	if b, err := json.Marshal(s); err != nil || !strings.Contains(string(b), `"tpot_ms":{"n":0,"mean":null`) {
		t.Errorf("%s, %v", b, err)
	}
	near(t, "TTFT", s.TTFT.P50, 700)
}

func testTPOTOfEachRequest(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) {
		s.tokens(1, 50*ms)
		s.tokens(9, time.Duration(a.N+1)*10*ms)
		s.end(8, 10)
	}, func(c *Config) { c.Requests = 5 })
	var oracle []float64
	for i, r := range w.records {
		d, _ := r.TPOT()
		near(t, "TPOT of a request", milliseconds(d), float64(i+1)*10)
		oracle = append(oracle, float64(i+1)*10)
	}
	want := NewDist(oracle)
	near(t, "mean", w.Stages[0].TPOT.Mean, want.Mean)
	near(t, "p90", w.Stages[0].TPOT.P90, want.P90)
}

func testUnmeasuredObjectiveIsMissed(t *testing.T) {
	s, _ := one(t, steady(50*ms, 1, 0), func(c *Config) { c.SLO = &SLO{TPOT: 1, At: "mean"} })
	if s.Meets == nil || *s.Meets || !strings.Contains(s.Missed, "not measured") {
		t.Errorf("an answer of one token meets a TPOT: %q", s.Missed)
	}
}

func testWeights(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) { // a long fast answer and a short slow one
		if a.N == 0 {
			s.tokens(101, 10*ms)
			s.end(8, 101)
			return
		}
		s.tokens(3, 100*ms)
		s.end(8, 3)
	}, func(c *Config) { c.Requests = 2 })
	s := &w.Stages[0]
	if s.ITL.N != 102 || s.TPOT.N != 2 {
		t.Errorf("n of ITL %d and of TPOT %d, want 102 and 2", s.ITL.N, s.TPOT.N)
	}
	near(t, "mean ITL", s.ITL.Mean, (100*10+2*100)/102.)
	near(t, "mean TPOT", s.TPOT.Mean, 55)
}

func testRoleIsNoToken(t *testing.T) {
	s, r := one(t, func(_ *asked, s *stream) {
		s.sleep(5 * ms)
		s.role()
		s.tokens(1, 209*ms)
		s.tokens(3, 10*ms)
		s.end(8, 4)
	}, nil)
	near(t, "TTFT", s.TTFT.P50, 214)
	near(t, "longest gap", s.ICL.Max, 10)
	near(t, "first event", milliseconds(r.FirstEvent-r.Sent), 5)
}

func testEmptyAnswer(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) {
		if a.N == 0 {
			s.role()
			s.end(8, 0)
			return
		}
		steady(80*ms, 4, 10*ms)(a, s)
	}, func(c *Config) { c.Requests = 2 })
	s := &w.Stages[0]
	if s.Requests.Failed != 1 || s.Classes["empty"] != 1 || s.TTFT.N != 1 {
		t.Errorf("%+v %v, TTFT of %d", s.Requests, s.Classes, s.TTFT.N)
	}
	near(t, "TTFT", s.TTFT.P50, 80)
}

func testUsageChunkIsNoToken(t *testing.T) {
	_, r := one(t, func(_ *asked, s *stream) {
		s.tokens(4, 10*ms)
		s.sleep(3 * time.Second)
		s.end(8, 4)
	}, nil)
	e, _ := r.E2E(Service)
	first, _ := r.TTFT(Service)
	near(t, "E2E", milliseconds(e), 40)
	near(t, "E2E - TTFT", milliseconds(e-first), 30)
	near(t, "end of the stream", milliseconds(r.End-r.Sent), 3040)
}

// thinking answers with reasoning on the named channel first.
func thinking(channel string, n, answers int) script {
	return func(_ *asked, s *stream) {
		for range n {
			s.sleep(20 * ms)
			s.delta(object{channel: "hm "})
		}
		s.tokens(answers, 20*ms)
		s.event(object{"choices": []object{{"index": 0, "delta": object{}, "finish_reason": "length"}},
			"usage": object{"prompt_tokens": 8, "completion_tokens": n + answers, "completion_tokens_details": object{"reasoning_tokens": n}}})
		s.raw("data: [DONE]\n\n")
	}
}

func testReasoningIsToken(t *testing.T) {
	for _, channel := range []string{"reasoning_content", "reasoning"} {
		s, _ := one(t, thinking(channel, 6, 0), nil) // max_tokens reached within the reasoning
		near(t, "TTFT by "+channel, s.TTFT.P50, 20)
		if s.Requests.OK != 1 || s.TTFAT.N != 0 {
			t.Errorf("%s: %+v, first answer token %+v", channel, s.Requests, s.TTFAT)
		}
	}
}

func testReasoningCountsOnce(t *testing.T) {
	s, r := one(t, thinking("reasoning_content", 6, 4), nil)
	near(t, "TTFT", s.TTFT.P50, 20)
	near(t, "first answer token", s.TTFAT.P50, 140)
	near(t, "TPOT", s.TPOT.P50, 20)
	if n, _ := r.Tokens(); n != 10 || r.Usage.Reasoning != 6 {
		t.Errorf("%d tokens, %d of reasoning", n, r.Usage.Reasoning)
	}
}

func testThinkTags(t *testing.T) {
	for name, pieces := range map[string][]string{
		"tags":        {"<think>", "hm", "</think>", "\n\n", "yes", "."},
		"split tags":  {"<th", "ink>hm", "</thi", "nk>", "yes", "."},
		"no open tag": {"hm", " hm", "</think>", "\n", "yes", "."},
	} {
		s, r := one(t, func(_ *asked, s *stream) {
			for _, p := range pieces {
				s.sleep(10 * ms)
				s.delta(object{"content": p})
			}
			s.end(8, 6)
		}, nil)
		near(t, name+": TTFT", s.TTFT.P50, 10)
		if r.Answer != 4 {
			t.Errorf("%s: the answer begins with chunk %d, want 4", name, r.Answer)
		}
	}
	late := Stage{Server: &ServerMetrics{TTFT: new(float64)}}
	*late.Server.TTFT = 100
	if list := late.serverWarnings(&Config{}, []*Record{answered(3, 10*time.Second, 11*time.Second)}); len(list) == 0 {
		t.Error("a client's TTFT a hundred times the service's own is not told")
	}
}

func testPercentilesAreOrdered(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) {
		if a.N%3 == 0 {
			s.w.WriteHeader(500)
			return
		}
		steady(time.Duration(a.N+1)*7*ms, 4, 10*ms)(a, s)
	}, func(c *Config) { c.Requests = 30 })
	for name, d := range map[string]Dist{"TTFT": w.Stages[0].TTFT, "E2E": w.Stages[0].E2E, "TPOT": w.Stages[0].TPOT} {
		if list := []float64{d.Min, d.P50, d.P90, d.P95, d.P99, d.Max}; !slices.IsSorted(list) || d.Min <= 0 || d.N != 20 {
			t.Errorf("%s of %d: %v", name, d.N, list)
		}
	}
	same := &Record{Stream: true, Sent: 5, Chunks: []openai.Chunk{{At: 5}, {At: 5}}, Usage: openai.Usage{Known: true, Completion: 2}}
	_, first := same.TTFT(Service)
	if _, each := same.TPOT(); first || each {
		t.Error("times of 0, which come of stamps that do not belong together, are samples")
	}
}

func testCountsHaveOneSource(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) {
		s.tokens(4, 10*ms)
		if a.N == 0 { // no usage
			s.finish()
			s.raw("data: [DONE]\n\n")
			return
		}
		s.end(8, 40)
	}, func(c *Config) { c.Requests = 2 })
	s := &w.Stages[0]
	if s.Output.N != 1 || s.Output.P50 != 40 || s.Counted != 0.5 {
		t.Errorf("output %+v, counted %g: chunks and tokens in one distribution", s.Output, s.Counted)
	}
	if !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "counted by chunks") }) {
		t.Errorf("not told: %q", s.Warnings)
	}
}

func testShortAnswersAreTold(t *testing.T) {
	s, _ := one(t, func(a *asked, s *stream) {
		if !a.Ignore || a.Min != 4 || a.Max != 4 {
			t.Errorf("asked %+v", a)
		}
		s.tokens(2, 10*ms)
		s.end(8, 2)
	}, nil)
	if !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "not honour ignore_eos") }) {
		t.Errorf("not told: %q", s.Warnings)
	}
}
