package work

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// flopsOf sums a phase.
func flopsOf(l *Layer, ph Phase) unit.FLOPs {
	var n unit.FLOPs
	for i := range l.Ops {
		if l.Ops[i].Phase == ph {
			n += l.Ops[i].FLOPs
		}
	}
	return n
}

// coreFLOPs sums the forward cores.
func coreFLOPs(l *Layer) unit.FLOPs {
	var n unit.FLOPs
	for i := range l.Ops {
		if op := &l.Ops[i]; op.Kind == Attention && op.Phase == Forward {
			n += op.FLOPs
		}
	}
	return n
}

// TestShardedFLOPs: the forward work of all tp x cp ranks is the unsharded work
// and what the ranks repeat, listed by hand per case.
func TestShardedFLOPs(t *testing.T) {
	const s, tokens = 4096, 2 * 4096
	for _, c := range []struct {
		says     string
		model    string
		edit     func(*plan.Plan)
		repeated unit.FLOPs
	}{
		{"heads and FFN divide", "llama-3-8b", func(p *plan.Plan) { p.TP, p.SP = 8, true }, 0},
		{"nothing changes without sequence parallelism", "llama-3-8b", func(p *plan.Plan) { p.TP = 8 }, 0},
		{"16 ranks project each of 8 kv heads twice", "llama-3-8b", func(p *plan.Plan) { p.TP, p.SP = 16, true },
			2 * tokens * 4096 * 2 * 1024},
		{"the ring divides tokens and pairs", "llama-3-8b", func(p *plan.Plan) { p.TP, p.CP, p.SP = 2, 4, true }, 0},
		{"latents and router run on own tokens", "deepseek-v3", func(p *plan.Plan) { p.TP, p.EP, p.SP = 4, 8, true }, 0},
		{"experts split in width see the rows of all who share them", "deepseek-v3",
			func(p *plan.Plan) { p.TP, p.ETP, p.SP = 4, 4, true }, 0},
		{"without sequence parallelism both ranks route all tokens and make all latents", "deepseek-v3",
			func(p *plan.Plan) { p.TP, p.ETP = 2, 2 }, 2 * tokens * 7168 * (256 + 1536 + 576)},
		{"six of 64 experts", "deepseek-v2-lite", func(p *plan.Plan) { p.TP, p.SP = 2, true }, 0},
		{"8 of 384 experts do not divide the tokens", "kimi-k2", func(p *plan.Plan) { p.EP = 2 }, 0},
		{"linear attention divides by heads", "qwen3.5-397b-a17b", func(p *plan.Plan) { p.TP, p.SP = 2, true }, 0},
		{"every rank runs the whole indexer: projections and scores over half of all pairs", "deepseek-v3.2",
			func(p *plan.Plan) { p.TP, p.SP = 4, true },
			3 * (2*tokens*(1536*64*128+7168*(128+64)) + 2*s*s*64*128)},
	} {
		m := mustModel(t, c.model)
		l := &m.Layers[len(m.Layers)-2]
		p := with(func(p *plan.Plan) { p.MicroBatch = 2; c.edit(p) })
		got := BuildLayer(m, l, p, s)
		want := tokens*m.LinearFLOPs(l) + 2*l.Attention.CoreFLOPs(s, model.Causal)
		if sum := unit.FLOPs(p.TP*p.CP) * flopsOf(&got, Forward); sum != want+c.repeated {
			t.Errorf("%s, %s: ranks sum to %.0f, unsharded %.0f and repeated %.0f", c.model, c.says, sum, want, c.repeated)
		}
	}
}

// TestTrainingFLOPs: for every model, forward and both gradients are what
// model.FLOPsPerToken says, once what a fused backward core spends on its scores
// (five products for two, not four) is taken out: that is recomputation, which
// model FLOPs leave out.
func TestTrainingFLOPs(t *testing.T) {
	const s = 4096
	p := with(nil)
	for _, e := range catalog.Models() {
		m := e.Model
		parts := []Layer{BuildEmbedding(m, p, s), BuildHead(m, p, s)}
		for i := range m.Layers {
			parts = append(parts, BuildLayer(m, &m.Layers[i], p, s))
		}
		for i := range m.MTP {
			parts = append(parts, BuildMTP(m, &m.MTP[i], p, s))
		}
		var sum unit.FLOPs
		for i := range parts {
			l := &parts[i]
			f, core := flopsOf(l, Forward), coreFLOPs(l)
			back := flopsOf(l, Input) + flopsOf(l, Weight) - (backwardCore(l) - 2*core)
			if back != 2*f {
				t.Errorf("%s part %d: backward %.0f is not twice forward %.0f", m.Name, i, back, f)
			}
			if w := flopsOf(l, Weight); w != f-core {
				t.Errorf("%s part %d: weight gradients %.0f, linears %.0f", m.Name, i, w, f-core)
			}
			sum += f + back
		}
		if want := s * m.FLOPsPerToken(s, model.Causal, len(m.MTP)); sum != want {
			t.Errorf("%s: operations sum to %.0f, the model to %.0f", m.Name, sum, want)
		}
	}
}

// TestFusedBackward: scores again, and gradients of queries, keys and values:
// three products of width d_qk and two of d_v against one of each.
func TestFusedBackward(t *testing.T) {
	for name, want := range map[string]float64{"llama-3-8b": 2.5, "deepseek-v3": (3*192 + 2*128) / 320.0} {
		m := mustModel(t, name)
		l := BuildLayer(m, &m.Layers[0], with(nil), 4096)
		if got := float64(backwardCore(&l) / coreFLOPs(&l)); got != want {
			t.Errorf("%s: backward core %v of the forward, want %v", name, got, want)
		}
	}
}

// backwardCore is the FLOPs of the attention cores' backward.
func backwardCore(l *Layer) (f unit.FLOPs) {
	for i := range l.Ops {
		if op := &l.Ops[i]; op.Kind == Attention && op.Backward {
			f += op.FLOPs
		}
	}
	return f
}

// TestRecompute: full recomputation repeats every forward operation once, and
// nothing else; modules repeat their own; nothing is repeated without.
func TestRecompute(t *testing.T) {
	m := mustModel(t, "deepseek-v3")
	l := moeLayer(t, m)
	const s = 4096
	names := func(r plan.Recompute) map[string]int {
		got := BuildLayer(m, l, with(func(p *plan.Plan) { p.TP, p.EP, p.SP, p.Recompute = 2, 8, true, r }), s)
		n := map[string]int{}
		for _, op := range got.Ops {
			if op.Phase == Recompute {
				n[op.Part+": "+op.Name]++
			}
		}
		return n
	}
	full := BuildLayer(m, l, with(func(p *plan.Plan) { p.TP, p.EP, p.SP, p.Recompute = 2, 8, true, plan.ReFull }), s)
	again := map[Op]int{}
	for _, op := range full.Ops {
		switch op.Phase {
		case Forward:
			again[op]++
		case Recompute:
			op.Phase = Forward
			again[op]--
		}
	}
	for op, n := range again {
		if n != 0 {
			t.Errorf("full: %s runs %d times more forward than again", op.Name, n)
		}
	}
	if n := len(names(plan.ReNone)); n != 0 {
		t.Errorf("none repeats %d operations", n)
	}
	for _, c := range []struct {
		r    plan.Recompute
		want []string
	}{
		{plan.ReNorm, []string{"attention: attention norm", "attention: latent norms", "routed experts: ffn norm"}},
		{plan.ReAct, []string{"routed experts: activation", "shared expert: activation"}},
		{plan.ReMLAUp, []string{"attention: q_b", "attention: kv_b", "attention: rope and key assembly"}},
		{plan.ReAttention, []string{"attention: core"}},
		{plan.ReMoE, []string{"routed experts: up", "routed experts: activation"}},
	} {
		got := names(c.r)
		for _, w := range c.want {
			if got[w] != 1 {
				t.Errorf("%s: %q runs again %d times", c.r, w, got[w])
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s repeats %v, want %v", c.r, got, c.want)
		}
	}
}

// TestMTP: a module is a layer, a 2h x h projection and a head; full
// recomputation repeats layer and projection (arXiv:2412.19437 section 2.2).
func TestMTP(t *testing.T) {
	m := mustModel(t, "deepseek-v3")
	const s = 4096
	p := with(func(p *plan.Plan) { p.Recompute = plan.ReFull })
	got := BuildMTP(m, &m.MTP[0], p, s)
	layer := BuildLayer(m, &m.MTP[0], p, s)
	head, projection := unit.FLOPs(2*s*7168*129280), unit.FLOPs(2*s*2*7168*7168)
	if f := flopsOf(&got, Forward); f != flopsOf(&layer, Forward)+projection+head {
		t.Errorf("forward %.0f is not layer, projection and head", f)
	}
	if f := flopsOf(&got, Recompute); f != flopsOf(&layer, Forward)+projection {
		t.Errorf("recomputation %.0f is not layer and projection", f)
	}
	kept := unit.Bytes(3 * 2 * s * 7168) // the module's input; the final norm's input and output
	if got.Saved != kept {
		t.Errorf("keeps %d bytes, want %d", got.Saved, kept)
	}
}

// TestAdapterFLOPs: an adapter costs 2 FLOPs per parameter and token, forward
// and for each gradient, and those of routed experts as often as tokens choose.
func TestAdapterFLOPs(t *testing.T) {
	const s, r = 4096, 16
	p := with(func(p *plan.Plan) { p.Tuning, p.LoRARank = plan.LoRA, r })
	for _, e := range catalog.Models() {
		m := e.Model
		for i := range m.Layers {
			l := &m.Layers[i]
			got := BuildLayer(m, l, p, s)
			var sum [NumPhases]unit.FLOPs
			for _, op := range got.Ops {
				if op.Part == "adapters" {
					sum[op.Phase] += op.FLOPs
				}
			}
			n := got.Params.TrainedDense
			if l.FFN.MoE() {
				n += got.Params.TrainedExpert / l.FFN.Experts * l.FFN.TopK
			}
			want := unit.FLOPs(2 * s * n)
			if sum[Forward] != want || sum[Input] != want || sum[Weight] != want {
				t.Fatalf("%s layer %d: %v, want %.0f for %d parameters", m.Name, i, sum, want, n)
			}
		}
	}
}
