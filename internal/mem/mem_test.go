package mem

import (
	"math/rand/v2"
	"testing"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// with is a BF16 plan of one GPU, changed by edit.
func with(edit func(*plan.Plan)) *plan.Plan {
	p := &plan.Plan{TP: 1, CP: 1, PP: 1, DP: 1, VPP: 1, EP: 1, ETP: 1, MicroBatch: 1, Precision: plan.Precisions["bf16"]}
	if edit != nil {
		edit(p)
	}
	return p
}

// trained is n dense and e expert parameters with gradients.
func trained(n, e int64) work.Params {
	return work.Params{Dense: n, Expert: e, TrainedDense: n, TrainedExpert: e}
}

// TestBytesPerParameter: states of a million parameters, in bytes (modelling: 18
// with BF16 weights, FP32 gradients and Adam; arXiv:1910.02054 for the stages).
func TestBytesPerParameter(t *testing.T) {
	const n, d = 1 << 20, 8
	for _, c := range []struct {
		says                 string
		params               work.Params
		edit                 func(*plan.Plan)
		weights, grads, adam unit.Bytes
	}{
		{"plain Adam: 18", trained(n, 0), nil, 2 * n, 4 * n, 12 * n},
		{"replicas share nothing", trained(n, 0), func(p *plan.Plan) { p.DP = d }, 2 * n, 4 * n, 12 * n},
		{"ZeRO-1: 6 + 12/d", trained(n, 0), func(p *plan.Plan) { p.DP, p.ZeRO = d, 1 }, 2 * n, 4 * n, 12 * n / d},
		{"ZeRO-2: 2 + 16/d", trained(n, 0), func(p *plan.Plan) { p.DP, p.ZeRO = d, 2 }, 2 * n, 4 * n / d, 12 * n / d},
		{"ZeRO-3: 18/d", trained(n, 0), func(p *plan.Plan) { p.DP, p.ZeRO = d, 3 }, 2 * n / d, 4 * n / d, 12 * n / d},
		{"context-parallel ranks are replicas too", trained(n, 0), func(p *plan.Plan) { p.DP, p.CP, p.ZeRO = 4, 2, 3 }, 2 * n / d, 4 * n / d, 12 * n / d},
		{"HSDP shards over its group only", trained(n, 0), func(p *plan.Plan) { p.DP, p.ZeRO, p.ShardGroup = 4*d, 3, d }, 2 * n / d, 4 * n / d, 12 * n / d},
		{"experts divide by their own replicas: dp x tp / (etp x ep) = 4 where ep x etp is not tp (Megatron-LM issue 4050)", trained(0, n),
			func(p *plan.Plan) { p.TP, p.SP, p.DP, p.EP, p.ZeRO = 4, true, 8, 8, 3 }, 2 * n / 4, 4 * n / 4, 12 * n / 4},
		{"an expert with one replica is not sharded", trained(0, n), func(p *plan.Plan) { p.DP, p.EP, p.ZeRO = 8, 8, 3 }, 2 * n, 4 * n, 12 * n},
		{"DualPipe's mirror holds the stage again, and shares the optimizer with it", trained(2*n, 0),
			func(p *plan.Plan) { p.PP, p.DP, p.ZeRO, p.Schedule = 2, d, 1, sched.DualPipe }, 2 * 2 * n, 2 * 4 * n, 12 * n / d},
		{"offloaded states are on the host", trained(n, 0), func(p *plan.Plan) { p.OffloadOptim = true }, 2 * n, 4 * n, 0},
		{"LoRA has states for its adapters only (arXiv:2106.09685)", work.Params{Dense: n + 1024, TrainedDense: 1024},
			func(p *plan.Plan) { p.Tuning, p.LoRARank = plan.LoRA, 16 }, 2*n + 2*1024, 4 * 1024, 12 * 1024},
		{"QLoRA's base is 4.125 bits, its adapters 16 (arXiv:2305.14314)", work.Params{Dense: n + 1024, TrainedDense: 1024},
			func(p *plan.Plan) { p.Tuning, p.LoRARank = plan.QLoRA, 16 }, n/2 + n/64 + 2*1024, 4 * 1024, 12 * 1024},
		{"DeepSeek-V3: FP8 weights with a scale per 16,384, FP32 master and gradients, BF16 moments (arXiv:2412.19437 section 3.3.3)", trained(n, 0),
			func(p *plan.Plan) { p.Precision = plan.Precisions["fp8"] }, n + n/4096, 4 * n, 8 * n},
		{"DeepSpeed's BF16 gradients stay beside the FP32 ones (runtime/bf16_optimizer.py)", trained(n, 0),
			func(p *plan.Plan) { p.Precision.Produced = unit.BF16 }, 2 * n, 6 * n, 12 * n},
		{"per-tensor FP8 keeps its copy beside the BF16 weights", trained(n, 0),
			func(p *plan.Plan) { p.Precision = plan.Precisions["fp8-tensor"] }, 3 * n, 4 * n, 12 * n},
	} {
		got := Of(with(c.edit), &Rank{Params: c.params})
		if got[Weights] != c.weights || got[Gradients] != c.grads || got[Optimizer] != c.adam {
			t.Errorf("%s: weights %d, gradients %d, optimizer %d, want %d, %d, %d",
				c.says, got[Weights], got[Gradients], got[Optimizer], c.weights, c.grads, c.adam)
		}
	}
}

// TestEnds: embedding and head stay in the head's format, without a low-precision copy.
func TestEnds(t *testing.T) {
	const n = 1 << 20
	for name := range plan.Precisions {
		got := Of(with(func(p *plan.Plan) { p.Precision = plan.Precisions[name] }), &Rank{Ends: trained(n, 0)})
		if got[Weights] != 2*n || got[Gradients] != 4*n {
			t.Errorf("%s: ends take %d and %d bytes, want %d and %d", name, got[Weights], got[Gradients], 2*n, 4*n)
		}
	}
}

// TestGathered: two units of 16-bit weights under ZeRO-3 (the current one and the
// prefetched), one unit of FP32 gradients from ZeRO-2 on, nothing where a
// parameter has no other replica.
func TestGathered(t *testing.T) {
	const n, e = 1 << 20, 1 << 22
	for _, c := range []struct {
		says string
		edit func(*plan.Plan)
		want unit.Bytes
	}{
		{"ZeRO-1 gathers into the weights themselves", func(p *plan.Plan) { p.DP, p.ZeRO = 8, 1 }, 0},
		{"ZeRO-2 reduces one unit", func(p *plan.Plan) { p.DP, p.ZeRO = 8, 2 }, 4 * (n + e)},
		{"ZeRO-3 gathers two units", func(p *plan.Plan) { p.DP, p.ZeRO = 8, 3 }, (4 + 4) * (n + e)},
		{"experts that no other rank holds are not gathered", func(p *plan.Plan) { p.DP, p.EP, p.ZeRO = 8, 8, 3 }, (4 + 4) * n},
		{"nor is anything on one rank", func(p *plan.Plan) { p.ZeRO = 3 }, 0},
		{"QLoRA gathers 4.125 bits", func(p *plan.Plan) { p.DP, p.ZeRO, p.Tuning = 8, 3, plan.QLoRA }, 2*(n+e)/2 + 2*(n+e)/64 + 4*(n+e)},
	} {
		if got := Of(with(c.edit), &Rank{Unit: trained(n, e), Next: trained(n, e)})[Gathered]; got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.says, got, c.want)
		}
	}
}

// TestRest: what does not depend on states is passed on, each in its own line,
// and the total is the sum of the lines.
func TestRest(t *testing.T) {
	got := Of(with(nil), &Rank{Saved: 5, Working: 7, Axes: 3})
	want := Parts{Activations: 5, Working: 7, Buffers: 3 * BufferBytes, Context: ContextBytes}
	if got != want || got.Total() != 12+3*BufferBytes+ContextBytes {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestMoreSharding: on random ranks and plans, more ZeRO, more replicas or a
// larger shard group never take more memory, the line of gathered units apart,
// and no line is negative.
func TestMoreSharding(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"bf16", "fp8", "fp8-tensor", "nvfp4"}
	for range 2000 {
		r := Rank{Params: trained(rng.Int64N(1<<36), rng.Int64N(1<<38)), Ends: trained(rng.Int64N(1<<30), 0),
			Unit: trained(rng.Int64N(1<<30), rng.Int64N(1<<32)), Saved: unit.Bytes(rng.Int64N(1 << 40))}
		p := with(func(p *plan.Plan) {
			p.DP, p.CP, p.EP = 1<<rng.IntN(10), 1<<rng.IntN(3), 1
			p.EP = 1 << rng.IntN(4)
			p.DP *= p.EP
			p.Precision = plan.Precisions[names[rng.IntN(len(names))]]
			p.OffloadOptim = rng.IntN(2) == 0
			if rng.IntN(2) == 0 {
				p.PP, p.Schedule = 2, sched.DualPipe
			}
		})
		var last Parts
		for p.ZeRO = 0; p.ZeRO <= 3; p.ZeRO++ {
			now := Of(p, &r)
			for part, b := range now {
				if b < 0 || p.ZeRO > 0 && b > last[part] && Part(part) != Gathered {
					t.Fatalf("%s of zero=%d on %d ranks: %d bytes after %d", Part(part), p.ZeRO, p.Replicas(), b, last[part])
				}
			}
			last = now
		}
		p.ZeRO = 3
		wide := *p
		wide.DP *= 2
		if a, b := Of(p, &r), Of(&wide, &r); b[Weights] > a[Weights] || b[Gradients] > a[Gradients] || b[Optimizer] > a[Optimizer] {
			t.Fatalf("twice the replicas take more: %v after %v", b, a)
		}
		group := *p
		group.ShardGroup = max(1, p.DP*p.CP/2)
		if a, b := Of(p, &r), Of(&group, &r); b[Weights] < a[Weights] || b[Gradients] < a[Gradients] || b[Optimizer] < a[Optimizer] {
			t.Fatalf("half a shard group takes less: %v after %v", b, a)
		}
	}
}
