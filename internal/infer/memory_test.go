package infer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// The parts of the table fill the budget, and what a dense model's ranks hold of
// weights is the model's 16-bit size with the copied norms.
func TestMemoryTable(t *testing.T) {
	for _, l := range layouts {
		e := mustEngine(t, l.model, l.cluster, l.plan, nil)
		m := e.Memory()
		if m.Parts.Total() != m.Budget || m.Budget != unit.Bytes(0.9*float64(m.Device)) {
			t.Errorf("%s: parts of %d bytes, budget %d of %d", l.model, m.Parts.Total(), m.Budget, m.Device)
		}
		for p := range mem.NumServingParts {
			if m.Parts[p] < 0 {
				t.Errorf("%s: %s takes %d bytes", l.model, p, m.Parts[p])
			}
		}
	}
	e := mustEngine(t, "llama-3.1-70b", "h100x4", plan.Serving{TP: 4}, nil)
	m := e.Setup().Model
	parts := e.Memory().Parts
	norms := 3 * int64(2*len(m.Layers)+1) * m.Hidden * 2 // copies on three more ranks
	if got, want := 4*(parts[mem.DenseWeights]+parts[mem.EndWeights]), unit.Bytes(2*m.Params()+norms); got != want {
		t.Errorf("four ranks hold %d bytes of weights, want %d", got, want)
	}
}

// Weight memory of a mixture of experts counts all experts, never the active ones
// (modelling notes, section 2): DeepSeek-V3's 671 B in FP8 take more than 600 GB.
func TestAllExpertsAreHeld(t *testing.T) {
	e := mustEngine(t, "deepseek-r1", "h200x8", plan.Serving{TP: 8}, nil)
	p := e.Memory().Parts
	within(t, "bytes of experts on eight ranks", 8*float64(p[mem.ExpertWeights]), 654e9, 0.01)
}

// What the cache holds: capacity in tokens times bytes per token is the cache, DP
// multiplies it, TP does nothing for a latent, DCP divides it again, and fewer bits
// hold as many more tokens.
func TestCacheCapacity(t *testing.T) {
	at := func(p plan.Serving, kv unit.Format) *infer.Engine {
		return mustEngine(t, "deepseek-r1", "h200x16", p, func(s *infer.Setup) { s.KV = kv })
	}
	base := at(plan.Serving{TP: 16}, unit.BF16)
	m := base.Memory()
	within(t, "tokens", float64(base.KVTokens()), float64(m.Parts[mem.Cache])/m.PerToken, 1e-5)
	within(t, "fp8", float64(at(plan.Serving{TP: 16}, unit.FP8).KVTokens()), 2*float64(base.KVTokens()), 1e-4)
	within(t, "dcp", float64(at(plan.Serving{TP: 16, DCP: 4}, unit.BF16).KVTokens()), 4*float64(base.KVTokens()), 1e-4)
	if got := base.KVBytesPerToken(); got != 16*m.PerToken {
		t.Errorf("sixteen ranks keep %g bytes per token, want 16 copies of %g", got, m.PerToken)
	}
	within(t, "sequences", float64(base.MaxConcurrency(4096)), float64(base.KVTokens())/4096, 0.01)
	spread := at(plan.Serving{TP: 1, DP: 16, EP: 16}, unit.BF16)
	if spread.KVTokens() < 8*base.KVTokens() {
		t.Errorf("attention replicas hold %d tokens, TP16 %d: want most of 16 times as many", spread.KVTokens(), base.KVTokens())
	}
}

// Layers with a window or a state keep a fixed part per sequence: long sequences
// cost what full layers do.
func TestWindowsAndStates(t *testing.T) {
	for _, name := range []string{"gpt-oss-120b", "gemma-3-27b", "qwen3.5-397b-a17b"} {
		e := mustEngine(t, name, "b200x8", plan.Serving{TP: 8}, nil)
		m := e.Memory()
		full := 0.0
		for _, l := range e.Setup().Model.Layers {
			if l.Attention.Window == 0 && l.Attention.Kind != model.Linear {
				full += float64(l.Attention.KVElements()*2) / 8
				if l.Attention.KVHeads < 8 {
					full += float64(l.Attention.KVElements()*2) * (1/float64(l.Attention.KVHeads) - 1.0/8)
				}
			}
		}
		within(t, name+" bytes per token", m.PerToken, full, 1e-9)
		if m.PerSequence <= 0 {
			t.Errorf("%s keeps nothing per sequence", name)
		}
		long, longer := e.MaxConcurrency(60000), e.MaxConcurrency(120000)
		if long < longer || long > 2*longer+2 {
			t.Errorf("%s: %d sequences of 60,000 tokens, %d of twice as many", name, long, longer)
		}
	}
}

// A model that does not fit is a MemoryError of one line beside a priced engine.
func TestDoesNotFit(t *testing.T) {
	e, err := infer.New(setup(t, "deepseek-r1", "h100x8", plan.Serving{TP: 8}))
	var m *infer.MemoryError
	if !errors.As(err, &m) || m.Need <= m.Have || strings.Contains(err.Error(), "\n") {
		t.Fatalf("671 GB on 640 GB: %v", err)
	}
	if s := e.Step(&infer.Batch{Decode: 1, DecodeContext: 100}); s.Total <= 0 {
		t.Errorf("the engine prices %+v", s)
	}
}

// Experts in a format that no timed kernel of the generation reads are said to be assumed.
func TestUntimedExpertsAreAssumed(t *testing.T) {
	for f, assumed := range map[unit.Format]bool{unit.NVFP4: true, unit.MXFP4: false, unit.INT4: false, unit.FP8Block: false} {
		e := mustEngine(t, "deepseek-r1", "h200x8", plan.Serving{TP: 8}, func(s *infer.Setup) { s.Experts = f })
		if got := strings.Contains(strings.Join(e.Assumptions().Texts(), "\n"), "no kernel of "+f.String()+" experts was timed"); got != assumed {
			t.Errorf("%s experts on H200: said to be assumed: %t", f, got)
		}
	}
}

// The copies of a cache and formats that the device lacks are named.
func TestWarnings(t *testing.T) {
	for _, row := range []struct {
		model, cluster string
		plan           plan.Serving
		says           string
	}{
		{"deepseek-r1", "h20x16", plan.Serving{TP: 16}, "MLA latent replicated under TP16: 16 copies of KV"},
		{"llama-3.1-70b", "h100x16", plan.Serving{TP: 16}, "KV heads replicated under TP16: 2 copies of KV"},
		{"llama-3.1-70b", "a100x8", plan.Serving{TP: 8}, "weights are read in fp8 and multiplied in bf16"},
	} {
		e := mustEngine(t, row.model, row.cluster, row.plan, func(s *infer.Setup) {
			if row.cluster == "a100x8" {
				s.Weights, s.Experts = unit.FP8, unit.FP8
			}
		})
		if all := strings.Join(e.Assumptions().And(e.Warnings()...).Texts(), "\n"); !strings.Contains(all, row.says) {
			t.Errorf("%s %s: %q does not hold %q", row.model, row.plan.String(), all, row.says)
		}
	}
	e := mustEngine(t, "llama-3.1-70b", "h100x8", plan.Serving{TP: 8}, nil)
	if len(e.Warnings()) > 0 {
		t.Errorf("a plain plan warns: %q", e.Warnings())
	}
}

// Weights of few bits on a device without their products are read in few bytes and
// multiplied at 16-bit speed: faster than 16-bit weights where memory binds, not
// where products do.
func TestWeightOnly(t *testing.T) {
	on := func(f unit.Format) *infer.Engine {
		return mustEngine(t, "llama-3.1-70b", "a100x8", plan.Serving{TP: 8}, func(s *infer.Setup) { s.Weights, s.Experts = f, f })
	}
	decode := infer.Batch{Decode: 1, DecodeContext: 1000}
	prompt := infer.Batch{Prefill: 8192, Prompts: 4, PrefillPairs: 4 * 2048 * 1024}
	wide, few := on(unit.BF16), on(unit.FP8)
	if a, b := wide.Step(&decode), few.Step(&decode); b.HBM > a.HBM*0.6 || b.Total >= a.Total {
		t.Errorf("decode reads for %g s in fp8, %g in bf16", float64(b.HBM), float64(a.HBM))
	}
	if a, b := wide.Step(&prompt), few.Step(&prompt); b.Compute != a.Compute {
		t.Errorf("prompts compute for %g s in fp8, %g in bf16: want the same products", float64(b.Compute), float64(a.Compute))
	}
	if a, b := on(unit.INT4).Step(&decode), few.Step(&decode); a.HBM >= b.HBM {
		t.Errorf("4 bits read for %g s, 8 for %g", float64(a.HBM), float64(b.HBM))
	}
}

func TestBadSetups(t *testing.T) {
	bad := unit.Seconds(-1e-3)
	for says, change := range map[string]func(*infer.Setup){
		"round trip":              func(s *infer.Setup) { s.RTT = &bad },
		"memory utilization":      func(s *infer.Setup) { s.Utilization = 1.5 },
		"imbalance":               func(s *infer.Setup) { s.Imbalance = 0.5 },
		"expert skew":             func(s *infer.Setup) { s.Skew = -1 },
		"tokens per step":         func(s *infer.Setup) { s.MaxBatchTokens = -1 },
		"needs a model":           func(s *infer.Setup) { s.Model = nil },
		"does not divide the 64":  func(s *infer.Setup) { s.Plan.TP = 3 },
		"and the cluster has 8":   func(s *infer.Setup) { s.Plan.Replicas = 2 },
		"ep=2: llama-3.1-70b has": func(s *infer.Setup) { s.Plan.EP = 2 },
	} {
		s := setup(t, "llama-3.1-70b", "h100x8", plan.Serving{TP: 8})
		change(s)
		if _, err := infer.New(s); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want one line with %q, got %v", says, err)
		}
	}
}

// An MTP module is a layer that attends: its cache lies beside those of the 61 layers.
func TestModulesHaveCache(t *testing.T) {
	plain := mustEngine(t, "deepseek-r1", "h200x8", plan.Serving{TP: 8}, nil)
	drafts := mustEngine(t, "deepseek-r1", "h200x8", plan.Serving{TP: 8}, func(s *infer.Setup) { s.MTP = 1 })
	if a, b := plain.Memory().PerToken, drafts.Memory().PerToken; a != 61*1152 || b != 62*1152 {
		t.Errorf("a token takes %g bytes without a module and %g with one, want 61 and 62 layers of 1,152", a, b)
	}
}
