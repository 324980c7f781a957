package work_test

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

func serving(t *testing.T, name string, p plan.Serving) *work.Serving {
	t.Helper()
	m, err := catalog.Model(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*int{&p.TP, &p.PP, &p.DP, &p.EP, &p.DCP, &p.Replicas} {
		*d = max(*d, 1)
	}
	if err := p.Check(m, 1<<20); err != nil {
		t.Fatal(err)
	}
	return &work.Serving{Model: m, Plan: &p, Weights: unit.BF16, Experts: unit.BF16, KV: unit.BF16,
		Product: unit.BF16, ExpertProduct: unit.BF16, Dispatch: unit.BF16}
}

// servingModels have every kind of attention and FFN of the catalogue.
var servingModels = []string{"llama-3.1-70b", "gpt-oss-120b", "deepseek-v3", "deepseek-v3.2", "qwen3-235b-a22b", "qwen3.5-397b-a17b", "gemma-3-27b",
	"llama-4-scout", "kimi-k2", "minimax-m2.5", "mixtral-8x7b", "phi-4"}

func linearFLOPs(ops []work.Op) (f float64) {
	for _, o := range ops {
		if o.Kind == work.GEMM || o.Kind == work.Grouped {
			f += float64(o.FLOPs)
		}
	}
	return f
}

// prefill lists every product of a layer that reads n prompt tokens.
func prefill(s *work.Serving, l *model.Layer, n int64) []work.Op {
	ops := s.FFN(s.Attention(nil, l, n), l, n)
	return s.Expert(s.Expand(ops, l, n), &l.FFN, work.ExpertLoad{All: float64(n)})
}

// Products of a prompt on one GPU are the model's: 2 x In x Out per token of every
// weight, TopK times for routed experts.
func TestServingFLOPsAreTheModels(t *testing.T) {
	const n = 640
	for _, name := range servingModels {
		s := serving(t, name, plan.Serving{})
		for i := range s.Model.Layers {
			l := &s.Model.Layers[i]
			got, want := linearFLOPs(prefill(s, l, n)), n*float64(s.Model.LinearFLOPs(l))
			if math.Abs(got/want-1) > 1e-12 {
				t.Fatalf("%s layer %d: %g FLOPs, the model has %g", name, i, got, want)
			}
		}
	}
}

// Ranks share the work: their FLOPs add up to the model's and the copies' of what
// every rank computes (latents, indexers, routers, key heads fewer than ranks).
func TestServingShardsAddUp(t *testing.T) {
	const n, tp = 640, 8
	for _, name := range servingModels {
		if name == "phi-4" || name == "mixtral-8x7b" {
			continue // 10 key heads; covered by the others
		}
		one, all := serving(t, name, plan.Serving{}), serving(t, name, plan.Serving{TP: tp})
		for i := range one.Model.Layers {
			l := &one.Model.Layers[i]
			var copied float64
			for _, w := range one.Model.Weights(l) {
				if w.In == 0 {
					continue
				}
				each := 2 * float64(n*w.In*w.Out)
				if w.Split == model.SplitNone {
					copied += (tp - 1) * each
				} else if w.Units > 0 && w.Units < tp {
					copied += float64(tp/w.Units-1) * each
				}
			}
			got, want := tp*linearFLOPs(prefill(all, l, n)), linearFLOPs(prefill(one, l, n))+copied
			if math.Abs(got/want-1) > 1e-12 {
				t.Fatalf("%s layer %d: ranks compute %g FLOPs, want %g", name, i, got, want)
			}
		}
	}
}

// The same for bytes of weights; kinds of expert placement hold the same experts.
func TestServingWeightsAddUp(t *testing.T) {
	for _, row := range []struct {
		name string
		plan plan.Serving
	}{
		{"llama-3.1-70b", plan.Serving{TP: 8}}, {"deepseek-v3", plan.Serving{TP: 8}}, {"deepseek-v3", plan.Serving{TP: 8, EP: 8}},
		{"deepseek-v3", plan.Serving{DP: 32, EP: 32}}, {"deepseek-v3", plan.Serving{TP: 4, DP: 8, EP: 32}}, {"deepseek-v3", plan.Serving{TP: 4, DP: 4, EP: 4}},
		{"qwen3.5-397b-a17b", plan.Serving{TP: 8, EP: 2}}, {"gpt-oss-120b", plan.Serving{TP: 4}},
	} {
		s := serving(t, row.name, row.plan)
		ranks := unit.Bytes(s.Plan.Ranks())
		for i := range s.Model.Layers {
			l := &s.Model.Layers[i]
			got := s.Stored(l)
			var experts, biases unit.Bytes
			for _, w := range s.Model.Weights(l) {
				if w.Role == model.RoleExpert {
					experts += unit.Bytes(2 * w.Params())
					if w.Split == model.SplitIn { // whole on every rank of an expert
						biases += unit.Bytes(2*w.Copies*w.Bias) * unit.Bytes(s.Plan.ETP()-1)
					}
				}
			}
			if ranks*got.Experts != experts+biases {
				t.Fatalf("%s %s layer %d: ranks hold %d bytes of experts, want %d", row.name, s.Plan, i, ranks*got.Experts, experts+biases)
			}
			if one := serving(t, row.name, plan.Serving{}).Stored(l); got.Dense > one.Dense || unit.Bytes(s.Plan.TP)*got.Dense < one.Dense {
				t.Fatalf("%s %s layer %d: a rank holds %d bytes, one GPU alone %d", row.name, s.Plan, i, got.Dense, one.Dense)
			}
		}
	}
}

// The core of a whole prompt is the model's, and cutting the prompt into chunks
// changes nothing: windows, chunks and selections included.
func TestPromptCores(t *testing.T) {
	const n = 20000
	for _, name := range servingModels {
		s := serving(t, name, plan.Serving{})
		for i := range s.Model.Layers {
			a := &s.Model.Layers[i].Attention
			core := func(p work.PromptLoad) (f float64) {
				for _, o := range s.PromptCore(nil, a, p) {
					f += float64(o.FLOPs)
				}
				return f
			}
			want := float64(a.CoreFLOPs(n, model.Causal))
			if a.Kind == model.Linear { // the convolution is a pass of its own
				want -= n * float64(2*a.ConvWidth*(2*a.KeyHeads*a.QKDim+a.Heads*a.VDim))
			}
			whole := core(work.PromptLoad{Prompts: 1, Tokens: n})
			parts := 0.0
			for past := int64(0); past < n; past += 4000 {
				parts += core(work.PromptLoad{Prompts: 1, Tokens: 4000, Past: float64(past)})
			}
			if math.Abs(whole/want-1) > 1e-9 || math.Abs(parts/want-1) > 1e-9 {
				t.Fatalf("%s layer %d (%s): %g FLOPs whole, %g in chunks, the model has %g", name, i, a.Summary(), whole, parts, want)
			}
		}
	}
}

// MLA decodes against the latent: 2 x 128 heads x s_q x s_k x (576 + 512) FLOPs and
// 576 elements of each key (modelling notes, section 3; arXiv:2405.04434).
func TestLatentDecode(t *testing.T) {
	s := serving(t, "deepseek-v3", plan.Serving{TP: 8})
	ops := s.DecodeCore(nil, &s.Model.Layers[5].Attention, work.DecodeLoad{Sequences: 10, Tokens: 2, Context: 3000})
	if len(ops) != 1 {
		t.Fatalf("%d operations, want one", len(ops))
	}
	o := ops[0]
	if want := unit.FLOPs(10 * 2 * 2 * 16 * 3000 * (576 + 512)); o.FLOPs != want {
		t.Errorf("%g FLOPs, want %g", float64(o.FLOPs), float64(want))
	}
	if want := unit.Bytes(2 * (10*3000*576 + 10*2*16*(576+512))); o.Bytes != want {
		t.Errorf("%d bytes, want %d", o.Bytes, want)
	}
}

// Decode context parallelism: every rank reads 1/dcp of the keys for dcp times the
// heads, with an exchange before and after.
func TestDecodeContextParallel(t *testing.T) {
	d := work.DecodeLoad{Sequences: 4, Tokens: 1, Context: 8000}
	one, four := serving(t, "deepseek-v3", plan.Serving{TP: 8}), serving(t, "deepseek-v3", plan.Serving{TP: 8, DCP: 4})
	a := &one.Model.Layers[0].Attention
	x, y := one.DecodeCore(nil, a, d), four.DecodeCore(nil, a, d)
	if len(y) != 3 || y[0].Kind != work.Collective || y[2].Kind != work.Collective {
		t.Fatalf("%d operations, want gather, core and scatter", len(y))
	}
	if x[0].FLOPs != y[1].FLOPs || y[1].Groups != 4*x[0].Groups || y[1].SeqKV != x[0].SeqKV/4 {
		t.Errorf("core %+v, without dcp %+v", y[1], x[0])
	}
}

// Experts touched by T balanced tokens: E (1 - (1 - k/E)^T) (modelling notes, section 1).
func TestTouchedExperts(t *testing.T) {
	for _, row := range []struct{ n, want float64 }{{0, 0}, {1, 8}, {2, 15.75}, {1e9, 256}} {
		if got := work.Touched(256, 8, row.n); math.Abs(got-row.want) > 1e-9 {
			t.Errorf("%g tokens touch %g experts, want %g", row.n, got, row.want)
		}
	}
}

// Two all-reduces per layer under TP, hidden x tokens x 2 bytes each; an exchange of
// attention replicas instead sends FP8 out and 16 bit back.
func TestServingCollectives(t *testing.T) {
	count := func(ops []work.Op, k work.CommKind) (n int, bytes unit.Bytes) {
		for _, o := range ops {
			if o.Kind == work.Collective && o.Comm.Kind == k {
				n++
				bytes += o.Comm.Bytes
			}
		}
		return n, bytes
	}
	s := serving(t, "deepseek-v3", plan.Serving{TP: 16})
	l := &s.Model.Layers[10]
	ops := append(s.FFN(s.Attention(nil, l, 3), l, 3), s.Expert(nil, &l.FFN, work.ExpertLoad{All: 3})...)
	if n, b := count(ops, work.AllReduce); n != 2 || b != 2*3*7168*2 {
		t.Errorf("TP: %d all-reduces of %d bytes", n, b)
	}
	s = serving(t, "deepseek-v3", plan.Serving{DP: 32, EP: 32})
	s.Dispatch = unit.FP8
	ops = append(s.FFN(s.Attention(nil, l, 3), l, 3), s.Expert(nil, &l.FFN, work.ExpertLoad{All: 96})...)
	if n, b := count(ops, work.Dispatch); n != 2 || b != 3*7168*(1+2) {
		t.Errorf("DP+EP: %d exchanges of %d bytes", n, b)
	}
	if n, _ := count(ops, work.AllReduce); n != 0 {
		t.Errorf("DP+EP: %d all-reduces", n)
	}
}

// Norms over all heads at once add the ranks' sums of squares, two FP32 values a token.
func TestNormsOverAllHeadsReduce(t *testing.T) {
	for tp, want := range map[int]unit.Bytes{1: 0, 4: 3 * 2 * 4} {
		s := serving(t, "minimax-m2.5", plan.Serving{TP: tp})
		var got unit.Bytes
		for _, o := range s.Attention(nil, &s.Model.Layers[0], 3) {
			if o.Kind == work.Collective && o.Name == "query and key squares" {
				got += o.Comm.Bytes
			}
		}
		if got != want {
			t.Errorf("tp=%d: %d bytes reduced, want %d", tp, got, want)
		}
	}
	s := serving(t, "qwen3-235b-a22b", plan.Serving{TP: 4})
	for _, o := range s.Attention(nil, &s.Model.Layers[0], 3) {
		if o.Name == "query and key squares" {
			t.Error("norms of single heads need no other rank")
		}
	}
}

// Chance fills one expert rank more than the mean, most where tokens are few, never
// beyond its experts; one rank holds all, and many tokens even out.
func TestChanceFillsOneExpertRank(t *testing.T) {
	up := func(ep int, tokens float64) *work.Op {
		s := serving(t, "qwen3-235b-a22b", plan.Serving{TP: 8, EP: ep})
		return &s.Expert(nil, &s.Model.Layers[0].FFN, work.ExpertLoad{All: tokens})[0]
	}
	last := math.Inf(1)
	for _, tokens := range []float64{1, 4, 64, 4096} {
		op, mean := up(8, tokens), tokens*8/8
		if over := op.Rows / mean; over < 1 || over > last {
			t.Errorf("%g tokens: the fullest rank has %.2f times the mean, fewer tokens %.2f", tokens, over, last)
		} else {
			last = over
		}
		if all := work.Touched(128, 8, tokens) / 8; op.Touched < all-1e-9 || op.Touched > 16 {
			t.Errorf("%g tokens touch %.1f experts of the fullest rank, %.1f of the mean one", tokens, op.Touched, all)
		}
		if one := up(1, tokens); one.Rows != tokens*8 {
			t.Errorf("%g rows on the only rank, want %g", one.Rows, tokens*8)
		}
	}
	if last > 1.05 {
		t.Errorf("4,096 tokens leave %.2f", last)
	}
}
