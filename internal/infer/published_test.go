package infer_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// within fails where got is farther than the share from want.
func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= share) {
		t.Errorf("%s = %.5g, want %.5g within %g", what, got, want, share)
	}
}

// Fact I1 of the mission: 37 B active parameters of one byte are 37 GB per token;
// at 1,979 GB/s 53.5 tokens/s, at the H200's 4,800 GB/s 129.7.
func TestOneGPUDecodeBound(t *testing.T) {
	const active = 37e9
	within(t, "tokens/s at 1,979 GB/s", infer.DecodeBound(active, unit.FP8, 1979e9), 53.5, 5e-4)
	within(t, "tokens/s at 4,800 GB/s", infer.DecodeBound(active, unit.FP8, 4800e9), 129.7, 5e-4)
	within(t, "tokens/s in 16 bit", infer.DecodeBound(active, unit.BF16, 1979e9), 53.5/2, 5e-4)
	m, err := catalog.Model("deepseek-r1")
	if err != nil {
		t.Fatal(err)
	}
	// 36.6 B counted exactly, published as 37 B (arXiv:2412.19437, fact T3).
	within(t, "streamed parameters", float64(infer.StreamedParams(m)), active, 0.015)
}

// Fact I3: throughput grows with concurrency while memory binds; the batch at which
// a part turns compute-bound is finite for dense weights, larger for experts, and
// attention over a latent (FLOPs 2 x 128 heads x (576 + 512) per 576 16-bit values)
// stays near the H200's ridge (modelling notes, section 3).
func TestConcurrency(t *testing.T) {
	e := mustEngine(t, "deepseek-r1", "h200x8", plan.Serving{TP: 8}, nil)
	flips := e.Flips(2048, 1<<16)
	dense, experts := flips[infer.Dense], flips[infer.Experts]
	if !(dense > 32 && dense < 1024) || !(experts > dense || experts == 0) { // 0: thin experts of TP8 move activations for longer than they compute
		t.Errorf("dense weights turn at %d sequences, experts at %d: want experts later or never, each token uses 8 of 256", dense, experts)
	}
	last := 0.0
	for n := 1; n <= 256; n *= 2 {
		s := e.Step(&infer.Batch{Decode: n, DecodeContext: int64(n) * 2048})
		if rate := float64(n) / float64(s.Total); rate < last {
			t.Errorf("%d sequences make %.0f tokens/s, fewer than half of them made", n, rate)
		} else {
			last = rate
		}
	}
}

// Fact I4: MLA keeps 70.3 kB per token at 16 bit, 35.1 kB in FP8, about 26 kB at 6
// bit; MHA of the same heads would need 61 x 2 x 128 heads x (192 + 128)/2.
func TestKVPerToken(t *testing.T) {
	m, err := catalog.Model("deepseek-r1")
	if err != nil {
		t.Fatal(err)
	}
	for f, kb := range map[unit.Format]float64{unit.BF16: 70.3, unit.FP8: 35.1, unit.FP6: 26} {
		within(t, "kB per token in "+f.String(), m.KVBytesPerToken(f, 0)/1e3, kb, 0.015)
		e := mustEngine(t, "deepseek-r1", "h200x8", plan.Serving{TP: 8}, func(s *infer.Setup) { s.KV = f })
		if got, want := e.Memory().PerToken, m.KVBytesPerToken(f, 0); got != want {
			t.Errorf("%s: a rank under TP8 keeps %g bytes per token, want the whole latent's %g", f, got, want)
		}
		if !strings.Contains(strings.Join(e.Warnings().Texts(), "\n"), "MLA latent replicated under TP8: 8 copies of KV") {
			t.Errorf("%s: warnings %q do not name the copies", f, e.Warnings())
		}
	}
}

// Under TP16 over two nodes a token waits for half a round trip in 2 exchanges per
// layer and one of the embedding and the head each, 122 and few more (modelling notes,
// section 4), and nothing but the wire grows with the network's latency.
func TestExchangesPerToken(t *testing.T) {
	at := func(rtt unit.Seconds) infer.Step {
		e := mustEngine(t, "deepseek-r1", "h20x16", plan.Serving{TP: 16}, func(s *infer.Setup) { s.RTT = &rtt })
		return e.Step(&infer.Batch{Decode: 1, DecodeContext: 1000})
	}
	near, far := at(0), at(2e-3)
	rise := float64(far.Total - near.Total)
	within(t, "exchanges per token", rise/1e-3, 122, 0.03)
	if got := float64(far.Wire - near.Wire); math.Abs(got-rise) > 1e-9 {
		t.Errorf("the wire takes %g s more, the step %g: nothing else may grow", got, rise)
	}
}

// Fact I8: the ceiling of expert-parallel decode (arXiv:2505.09343 section 2.3.2),
// exact to three digits: 32 tokens, hidden 7,000, 9 copies, 3 bytes, 50 GB/s.
func TestExchangeCeiling(t *testing.T) {
	e := mustEngine(t, "deepseek-v3", "h800x256", plan.Serving{DP: 256, EP: 256}, nil)
	list := e.Ceilings(256*64, 50e9)
	if len(list) != 3 {
		t.Fatalf("%+v: want the plan's own and two published rows", list)
	}
	for i, row := range []struct{ pair, step, tokens float64 }{{120.96e-6, 14.76e-3, 67.76}, {6.72e-6, 0.82e-3, 1220}} {
		c := &list[i+1]
		within(t, "pair", float64(c.Pair()), row.pair, 5e-4)
		within(t, "step", float64(c.Step()), row.step, 5e-4)
		within(t, "tokens/s", c.PerUser(), row.tokens, 5e-4)
		if !c.Published() {
			t.Errorf("%+v is the paper's and not called so", c)
		}
	}
	// 64 sequences per GPU are two micro-batches of 32; 58 of 61 layers route, and the
	// format counts a scale of 4 bytes for 128 x 128 values.
	own := &list[0]
	within(t, "own step", float64(own.Step()), 2*58*32*9*7168*(3+1./4096)/50e9, 1e-3)
	if own.Published() {
		t.Error("the plan's own load is called published")
	}
	// Half of the sequences is in the other stage.
	two := mustEngine(t, "deepseek-v3", "h800x256", plan.Serving{DP: 128, EP: 128, PP: 2}, nil)
	if got := two.Ceilings(256*64, 50e9)[0]; got.Tokens != own.Tokens || got.Step() != own.Step() {
		t.Errorf("two stages of 128 ranks: %+v, one of 256: %+v", got, own)
	}
	for _, x := range []struct {
		model string
		rate  unit.ByteRate
		fast  bool
	}{{"deepseek-v3", 450e9, true}, {"qwen3.5-397b-a17b", 50e9, false}} { // another link, another model
		other := mustEngine(t, x.model, "h200x8", plan.Serving{DP: 8, EP: 8}, nil).Ceilings(64, x.rate)
		if other[1].Published() || other[2].Published() != x.fast {
			t.Errorf("%s at %g: %+v", x.model, float64(x.rate), other)
		}
	}
	if same := mustEngine(t, "deepseek-v3", "b200x8", plan.Serving{DP: 8, EP: 8}, nil).Ceilings(64, 900e9); len(same) != 2 || !same[1].Published() {
		t.Errorf("over a link of the published rate: %+v, want one published row", same)
	}
	if e := mustEngine(t, "llama-3.1-70b", "h100x4", plan.Serving{TP: 4}, nil); e.Ceilings(64, 50e9) != nil {
		t.Error("a dense model exchanges nothing")
	}
}

// No estimate is faster than its floor: Llama-70B on 4 H100 reads a 2,048-token
// prompt in 73 ms at the datasheet peak (989 TFLOP/s) and makes a token in 10.4 ms
// (139 GB of 16-bit weights at 3,350 GB/s), figures of the project's issue.
func TestLlama70BFloors(t *testing.T) {
	e := mustEngine(t, "llama-3.1-70b", "h100x4", plan.Serving{TP: 4}, func(s *infer.Setup) { s.Peak = true })
	p := e.Step(&infer.Batch{Prefill: 2048, PrefillPairs: 2048 * 2048 / 2, Prompts: 1})
	d := e.Step(&infer.Batch{Decode: 1, DecodeContext: 1})
	within(t, "prefill floor", float64(p.Floor), 73e-3, 0.02)
	within(t, "decode floor", float64(d.Floor), 10.4e-3, 0.02)
	real := mustEngine(t, "llama-3.1-70b", "h100x4", plan.Serving{TP: 4}, nil)
	for _, s := range []infer.Step{
		p, d, real.Step(&infer.Batch{Prefill: 2048, PrefillPairs: 2048 * 2048 / 2, Prompts: 1}), real.Step(&infer.Batch{Decode: 1, DecodeContext: 1}),
	} {
		if s.Total < s.Floor || s.Floor <= 0 {
			t.Errorf("step %+v is faster than its floor", s)
		}
	}
}

// A decode step reads every weight of the rank once, however many tokens it has:
// bytes of the operations against the memory table, Llama's dense layers exactly.
func TestDecodeReadsEveryWeightOnce(t *testing.T) {
	for _, tp := range []int{1, 2, 4, 8} {
		e := mustEngine(t, "llama-3.1-8b", "h100x8", plan.Serving{TP: tp}, nil)
		var read unit.Bytes
		for _, r := range e.Explain(&infer.Batch{Decode: 1, DecodeContext: 1}) {
			if r.Op.Kind == work.GEMM {
				acts := r.Op.M * (r.Op.K + r.Op.N) * 2
				read += unit.Bytes(r.Times) * (r.Op.Bytes - unit.Bytes(acts))
			}
		}
		parts := e.Memory().Parts
		held := parts[0] + parts[2] // layers, and both ends
		m := e.Setup().Model
		vectors := unit.Bytes((int64(len(m.Layers))*2 + 1) * m.Hidden * 2) // norms
		table := unit.Bytes(m.Vocab / int64(tp) * m.Hidden * 2)
		if read != held-vectors-table {
			t.Errorf("tp=%d: products read %d bytes, memory holds %d of matrices", tp, read, held-vectors-table)
		}
	}
}
