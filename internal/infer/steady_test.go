package infer_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func mustSteady(t *testing.T, e *infer.Engine, l infer.Load) infer.Point {
	t.Helper()
	p, err := infer.Steady(e, &l)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkPoint holds what every closed loop keeps: Little's law over the steady
// state, parts that add up, shares between 0 and 1.
func checkPoint(t *testing.T, l infer.Load, p infer.Point) {
	t.Helper()
	if math.Abs(p.Requests*float64(p.E2E)/float64(l.Concurrency)-1) > 0.02 {
		t.Errorf("%+v: %g requests/s of %g s are not %d clients", l, p.Requests, float64(p.E2E), l.Concurrency)
	}
	within(t, "tokens", p.Output, p.Requests*float64(l.OSL), 1e-9)
	within(t, "E2E", float64(p.E2E), float64(p.Steady)+float64(l.OSL-1)*float64(p.TPOT), 1e-6)
	for name, v := range map[string]float64{"room": p.Room, "prompts": p.Prompts} {
		if !(v >= -1e-9 && v <= 1+1e-9) {
			t.Errorf("%+v: %s is %g", l, name, v)
		}
	}
	if p.TTFT < p.Steady || p.Queue > p.Steady || p.Decoding > float64(p.Running)+1e-9 {
		t.Errorf("%+v: %+v is out of order", l, p)
	}
}

// requestTime is the profile's own time before a first token, outside the instance.
func requestTime(isl int64) unit.Seconds { return infer.DefaultProfile("").Entry(isl) }

// More clients make more tokens per second and wait longer, up to the limit; beyond
// it they queue.
func TestMoreClients(t *testing.T) {
	for _, row := range []struct {
		model, cluster string
		plan           plan.Serving
		isl, osl       int64
	}{
		{"llama-3.1-8b", "h100x1", plan.Serving{TP: 1}, 1024, 128},
		{"llama-3.1-70b", "h100x4", plan.Serving{TP: 4}, 8192, 1024},
		{"gpt-oss-120b", "h100x4", plan.Serving{TP: 4}, 1024, 8192},
		{"deepseek-r1", "h200x8", plan.Serving{TP: 8}, 4096, 1024},
		{"deepseek-r1", "h800x32", plan.Serving{TP: 1, DP: 32, EP: 32}, 4096, 512},
	} {
		e := mustEngine(t, row.model, row.cluster, row.plan, nil)
		full, err := infer.Saturate(e, &infer.Load{ISL: row.isl, OSL: row.osl})
		if err != nil {
			t.Fatal(err)
		}
		knee := full.Clients
		var last infer.Point
		for c := int64(1); c <= 4096; c *= 2 {
			l := infer.Load{ISL: row.isl, OSL: row.osl, Concurrency: c}
			p := mustSteady(t, e, l)
			checkPoint(t, l, p)
			if p.Output < last.Output*0.99 || p.Steady < last.Steady*0.99 || p.Room < last.Room-1e-6 {
				t.Errorf("%s: %d clients: %+v after %+v", row.model, c, p, last)
			}
			if p.Limit != infer.NoLimit && p.Valid() {
				t.Errorf("%s: %d clients ran out of %s and the means still speak for single requests", row.model, c, p.Limit)
			}
			if queues := p.Limit != infer.NoLimit; queues != (float64(c) > knee) && math.Abs(float64(c)/knee-1) > 0.1 {
				t.Errorf("%s: %d clients, limit %s, the knee lies at %g", row.model, c, p.Limit, knee)
			}
			last = p
		}
		if last.Limit == infer.NoLimit || last.Queue <= 0 {
			t.Errorf("%s: 4,096 clients do not queue: %+v", row.model, last)
		}
	}
}

// One client alone: its prompt, then its tokens, one step each.
func TestOneClient(t *testing.T) {
	e := mustEngine(t, "llama-3.1-8b", "h100x1", plan.Serving{TP: 1}, nil)
	p := mustSteady(t, e, infer.Load{ISL: 1000, OSL: 100, Concurrency: 1})
	step := e.Step(&infer.Batch{Decode: 1, DecodeContext: 1050})
	read := e.Step(&infer.Batch{Prefill: 1000, PrefillPairs: 1000 * 1000 / 2, Prompts: 1})
	within(t, "TPOT", float64(p.TPOT), float64(step.Total), 1e-6)
	within(t, "TTFT", float64(p.Steady-requestTime(1000)), float64(read.Total), 1e-6)
	if p.Queue != 0 || p.Limit != infer.NoLimit {
		t.Errorf("a single client queues: %+v", p)
	}
}

// With prompts in line the mean step is t_decode + c t_prefill/osl (modelling notes,
// section 6), where a prompt costs what it adds to a decode step.
func TestMeanStepHoldsPrompts(t *testing.T) {
	e := mustEngine(t, "llama-3.1-70b", "h100x4", plan.Serving{TP: 4}, nil)
	p := mustSteady(t, e, infer.Load{ISL: 2048, OSL: 1024, Concurrency: 32})
	n := int(p.Decoding + 0.5)
	b := infer.Batch{Decode: n, DecodeContext: int64(n) * (2048 + 512)}
	plain := e.Step(&b)
	b.Prefill, b.Prompts, b.PrefillPairs = 2048, 1, 2048*2048/2
	added := e.Step(&b).Total - plain.Total
	within(t, "TPOT", float64(p.TPOT), float64(plain.Total)+float64(n)*float64(added)/1024, 0.03)
	if p.Prompts <= 0 {
		t.Errorf("prompts take %g of the time", p.Prompts)
	}
}

// A run of few requests holds more of its first burst.
func TestBurst(t *testing.T) {
	e := mustEngine(t, "llama-3.1-8b", "h100x1", plan.Serving{TP: 1}, nil)
	l := infer.Load{ISL: 2048, OSL: 512, Concurrency: 64, Rounds: 1}
	once := mustSteady(t, e, l)
	if math.Abs(float64(once.TTFT/once.Burst-1)) > 1e-12 {
		t.Errorf("one round: TTFT %g is not the burst's %g", float64(once.TTFT), float64(once.Burst))
	}
	l.Rounds = 0
	ten := mustSteady(t, e, l)
	within(t, "ten rounds", float64(ten.TTFT), float64(ten.Steady)+0.1*float64(ten.Burst-ten.Steady), 1e-9)
	full := e.Step(&infer.Batch{Prefill: 8192, Prompts: 4, PrefillPairs: 4 * 2048 * 2048 / 2})
	if burst := float64(ten.Burst); burst < 5*float64(full.Total) || burst > 32*float64(full.Total) {
		t.Errorf("64 prompts of 2,048 tokens wait %g s on average, a step of four takes %g", burst, float64(full.Total))
	}
}

// Speculation multiplies tokens per step and their verification.
func TestSteadyWithSpeculation(t *testing.T) {
	e := mustEngine(t, "deepseek-r1", "h200x8", plan.Serving{TP: 8}, nil)
	spec, err := infer.ParseSpeculation("mtp:1:0.85")
	if err != nil {
		t.Fatal(err)
	}
	s, err := infer.NewSpeculative(e, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain := mustSteady(t, e, infer.Load{ISL: 1024, OSL: 1024, Concurrency: 1})
	fast := mustSteady(t, e, infer.Load{ISL: 1024, OSL: 1024, Concurrency: 1, Spec: spec, Stepper: s})
	if gain := float64(plain.TPOT / fast.TPOT); gain < 1.2 || gain > 1.85 {
		t.Errorf("one user gains %.2f, want up to the 1.85 tokens of a step", gain)
	}
}

func TestBadLoads(t *testing.T) {
	e := mustEngine(t, "llama-3.1-8b", "h100x1", plan.Serving{TP: 1}, nil)
	for _, row := range []struct {
		l    infer.Load
		says string
	}{
		{infer.Load{ISL: 1000, OSL: 100}, "concurrency 0"},
		{infer.Load{ISL: 1000, OSL: 100, Concurrency: 1, Rounds: -1}, "-1 rounds"},
		{infer.Load{ISL: 0, OSL: 100, Concurrency: 1}, "give at least 1 of each"},
		{infer.Load{ISL: 131000, OSL: 100, Concurrency: 1}, "exceeds the 131072"},
		{infer.Load{ISL: 10, OSL: 10, Concurrency: 1, Spec: &infer.Speculation{Drafter: infer.MTP, Drafts: 1, Accept: []float64{1.1}}}, "1.1"},
	} {
		if _, err := infer.Steady(e, &row.l); err == nil || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: error %v, want one line with %q", row.l, err, row.says)
		}
	}
	tight := mustEngine(t, "llama-3.1-70b", "h100x2", plan.Serving{TP: 2}, func(s *infer.Setup) {
		s.Utilization = 0.95
		s.MaxSequences = 16
		s.MaxBatchTokens = 512
		s.KV = unit.BF16
	})
	_, err := infer.Steady(tight, &infer.Load{ISL: 100000, OSL: 1000, Concurrency: 1})
	var m *infer.MemoryError
	if !errors.As(err, &m) || m.Need <= m.Have || !strings.Contains(err.Error(), "cache of one request") {
		t.Errorf("a cache too small for one request: %v", err)
	}
}

// Requests that are all alike keep the clients of an engine that reads prompts first in
// step: what prompts take is the same, but it falls on the first token and less between
// tokens. A single client and a clump that one step reads are not interrupted at all.
// Engines that mix both keep groups in step only, see Load.Fixed: rates are the same and
// first tokens come up to a fifth later.
func TestLockstep(t *testing.T) {
	for engine, together := range map[string]bool{"vllm": false, "sglang": true} {
		e := mustEngine(t, "qwen3-32b", "h100x8", plan.Serving{TP: 8}, func(s *infer.Setup) { s.Profile, _ = infer.FindProfile(engine, "hopper") })
		for _, c := range []int64{1, 4, 8, 64, 128, 1024} {
			l := infer.Load{ISL: 1024, OSL: 256, Concurrency: c}
			apart := mustSteady(t, e, l)
			l.Fixed = true
			alike := mustSteady(t, e, l)
			checkPoint(t, l, alike)
			if alike.InStep != (together && c > 1) {
				t.Errorf("%s, %d clients: in step %v", engine, c, alike.InStep)
			}
			tolerance := 0.25
			if !together {
				tolerance = 0.01
				within(t, "steady TTFT", float64(alike.Steady), 1.09*float64(apart.Steady), 0.09)
			}
			within(t, "requests per second", alike.Requests, apart.Requests, tolerance)
			if alike.TPOT > apart.TPOT*1.02 || alike.TTFT < apart.TTFT*0.5 {
				t.Errorf("%s, %d clients in step: %+v, apart %+v", engine, c, alike, apart)
			}
			if together && c*l.ISL <= 8000 {
				n := infer.Batch{Decode: int(c), DecodeContext: c * (1024 + 128)}
				within(t, "TPOT of one clump", float64(alike.TPOT), float64(e.Step(&n).Total), 0.01)
			}
		}
	}
}

// An engine that sends several tokens at once shows its first one later and its last
// one at the same time.
func TestStreamInterval(t *testing.T) {
	const isl, osl, every = 1024, 512, 20
	e := mustEngine(t, "llama-3.1-70b", "h100x4", plan.Serving{TP: 4}, nil)
	late := mustEngine(t, "llama-3.1-70b", "h100x4", plan.Serving{TP: 4}, func(s *infer.Setup) {
		p := *infer.DefaultProfile("hopper")
		p.Stream = every
		s.Profile = &p
	})
	a, b := mustSteady(t, e, infer.Load{ISL: isl, OSL: osl, Concurrency: 16}), mustSteady(t, late, infer.Load{ISL: isl, OSL: osl, Concurrency: 16})
	within(t, "end", float64(b.E2E), float64(a.E2E), 1e-9)
	within(t, "first token", float64(b.TTFT), float64(a.TTFT+(every-1)*a.TPOT), 1e-6)
	within(t, "TPOT", float64(b.TPOT), float64(a.TPOT)*(osl-every)/(osl-1), 1e-9)
}

// TestRatesFollowFromTimes: with nobody waiting, a closed loop answers as many
// requests as its clients' own times let them ask.
func TestRatesFollowFromTimes(t *testing.T) {
	e := mustEngine(t, "llama-3.1-8b", "h100x1", plan.Serving{TP: 1}, nil)
	for _, osl := range []int64{1, 16, 256} {
		p := mustSteady(t, e, infer.Load{ISL: 64, OSL: osl, Concurrency: 1})
		within(t, "requests/s", p.Requests, 1/float64(p.Steady+unit.Seconds(osl-1)*p.TPOT), 1e-6)
	}
}

// A prompt of one token more than a step holds takes a step more, not the time of two full ones; a user
// more lowers no rate, and no token comes before a step that generates it could.
func TestPromptsBeyondAStepInStep(t *testing.T) {
	e := mustEngine(t, "llama-3.1-8b", "h100x8", plan.Serving{TP: 1}, func(s *infer.Setup) { s.Profile, _ = infer.FindProfile("sglang", "hopper") })
	at := func(e *infer.Engine, isl, osl int64, users int) infer.Point {
		l := infer.Load{ISL: isl, OSL: osl, Concurrency: int64(users)}
		l.Fixed = true
		return mustSteady(t, e, l)
	}
	if a, b := at(e, 8192, 64, 1), at(e, 8193, 64, 1); b.TTFT > 1.05*a.TTFT || b.TTFT < a.TTFT {
		t.Errorf("first tokens of 8,192 and 8,193 come after %v and %v", a.TTFT, b.TTFT)
	}
	for users := 1; users < 20; users++ {
		if a, b := at(e, 1024, 16, users), at(e, 1024, 16, users+1); b.Requests < a.Requests {
			t.Errorf("%d users have %v answers/s, one more %v", users, a.Requests, b.Requests)
		}
	}
	wide := mustEngine(t, "deepseek-r1", "h200x8", plan.Serving{DP: 8, EP: 8}, func(s *infer.Setup) { s.Profile, _ = infer.FindProfile("sglang", "hopper") })
	for _, isl := range []int64{9000, 16000, 60000} {
		for users := 1; users <= 8; users++ {
			if p := at(wide, isl, 64, users); p.TPOT < p.Step.Floor || p.Step.Floor <= 0 {
				t.Errorf("%d tokens, %d users: a token every %v, at least %v", isl, users, p.TPOT, p.Step.Floor)
			}
		}
	}
}
