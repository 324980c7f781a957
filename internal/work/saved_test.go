package work

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// TestKorthikanti holds one layer of GPT-3 to arXiv:2205.05198 table 2, in bytes:
// sbh(34 + 5as/h) without recomputation. Ridgeline's layers have no dropout
// outside attention, whose two masks are 2sbh, so 34 becomes 32. A fused core
// keeps one FP32 per row and head, 4asb, in place of the scores.
func TestKorthikanti(t *testing.T) {
	const s, b, h, a = 2048, 1, 12288, 96
	const sbh, scores, rows = s * b * h, 5 * a * s * s * b, 4 * a * s * b
	m := mustModel(t, "gpt3-175b")
	for _, c := range []struct {
		says        string
		edit        func(*plan.Plan)
		saved, back unit.Bytes // kept, and rebuilt before the backward pass
	}{
		{"unfused attention keeps softmax, mask and dropout output", func(p *plan.Plan) { p.UnfusedAttn = true }, 32*sbh + scores, 0},
		{"a fused core does not", nil, 32*sbh + rows, 0},
		{"selective recomputation drops the scores and keeps the core's output, the projection's input",
			func(p *plan.Plan) { p.UnfusedAttn, p.Recompute = true, plan.ReAttention }, 32 * sbh, scores},
		{"tensor parallelism leaves norms and block inputs whole: 10 + 24/t less the masks", func(p *plan.Plan) { p.TP = 8 },
			8*sbh + 24*sbh/8 + rows/8, 0},
		{"sequence parallelism divides everything", func(p *plan.Plan) { p.TP, p.SP = 8, true }, (32*sbh + rows) / 8, 0},
		{"so does context parallelism", func(p *plan.Plan) { p.CP = 4 }, (32*sbh + rows) / 4, 0},
		{"full recomputation keeps the input", func(p *plan.Plan) { p.Recompute = plan.ReFull }, 2 * sbh, 30*sbh + rows},
		{"which sequence parallelism divides", func(p *plan.Plan) { p.TP, p.SP, p.Recompute = 8, true, plan.ReFull }, 2 * sbh / 8, (30*sbh + rows) / 8},
		{"norm outputs are 4sbh", func(p *plan.Plan) { p.Recompute = plan.ReNorm }, 28*sbh + rows, 4 * sbh},
		{"the GeLU's output is 8sbh", func(p *plan.Plan) { p.Recompute = plan.ReAct }, 24*sbh + rows, 8 * sbh},
	} {
		l := BuildLayer(m, &m.Layers[0], with(c.edit), s)
		if l.Saved != c.saved || l.Dropped != c.back {
			t.Errorf("%s: keeps %d and rebuilds %d, want %d and %d", c.says, l.Saved, l.Dropped, c.saved, c.back)
		}
		if in := unit.Bytes(2 * sbh); c.edit == nil && l.Input != in {
			t.Errorf("the layer's input is %d, want %d", l.Input, in)
		}
	}
}

// TestDeepSeekSaved counts what DeepSeek-V3's recipe keeps of one MoE layer per
// token (arXiv:2412.19437 sections 3.2.3 and 3.3.3): norms, SwiGLU outputs and
// MLA's up-projections are rebuilt; inputs of linears and of SwiGLU stay in FP8
// with one FP32 scale per 128 values. (Their E5M6 of the core's output is
// counted as the 16-bit output and an FP8 copy.)
func TestDeepSeekSaved(t *testing.T) {
	const s, h, inner, heads, topk = 4096, 7168, 2048, 128, 8
	fp8 := func(n int64) unit.Bytes { return unit.Bytes(s*n + s*n/128*4) }
	want := 2*unit.Bytes(s*2*h) + // residual stream before both norms
		unit.Bytes(s*2*(1536+512+64)) + // latents before their norms
		unit.Bytes(s*(2*heads*128+4*heads)) + fp8(heads*128) + // core output, row sums, o's input
		unit.Bytes(s*2*256*4) + // router scores and gates
		fp8(2*inner) + // shared SwiGLU input
		fp8(topk*h) + fp8(topk*2*inner) // dispatched tokens, routed SwiGLU inputs
	m := mustModel(t, "deepseek-v3")
	edit := func(p *plan.Plan) { p.EP, p.Recompute, p.Precision = 64, plan.ReSelective, plan.Precisions["fp8"] }
	l := BuildLayer(m, moeLayer(t, m), with(edit), s)
	if l.Saved != want {
		t.Errorf("keeps %d bytes, by hand %d", l.Saved, want)
	}
	rebuilt := 2*fp8(h) + fp8(1536+512) + // norm outputs
		unit.Bytes(s*2*heads*(192+192+128)) + // q, k and v
		fp8(inner) + fp8(topk*inner) // SwiGLU outputs
	if l.Dropped != rebuilt {
		t.Errorf("rebuilds %d bytes, by hand %d", l.Dropped, rebuilt)
	}
}

// TestSavedParts counts by hand what the less usual layers keep beside a plain one.
func TestSavedParts(t *testing.T) {
	const s = 4096
	lite := mustModel(t, "deepseek-v2-lite")
	// h 2048, no query latent, 16 heads of 192 and 128, latent 512 + 64
	none := BuildLayer(lite, &lite.Layers[0], with(nil), s)
	up := BuildLayer(lite, &lite.Layers[0], with(func(p *plan.Plan) { p.Recompute = plan.ReMLAUp }), s)
	if got, want := none.Saved-up.Saved, unit.Bytes(s*2*16*(192+128)); got != want {
		t.Errorf("mla-up without a query latent drops %d bytes, keys and values are %d", got, want)
	}
	q3 := mustModel(t, "qwen3-0.6b") // 16 query and 8 key heads of 128
	norm := BuildLayer(q3, &q3.Layers[0], with(func(p *plan.Plan) { p.Recompute = plan.ReNorm }), s)
	if got, want := norm.Dropped, unit.Bytes(s*2*(2*1024+24*128)); got != want {
		t.Errorf("norm rebuilds %d bytes, block and query-key norms put out %d", got, want)
	}
	gem := mustModel(t, "gemma-2-9b")
	plain := gem.Layers[0]
	plain.Norms = 2
	four, two := BuildLayer(gem, &gem.Layers[0], with(nil), s), BuildLayer(gem, &plain, with(nil), s)
	if got, want := four.Saved-two.Saved, unit.Bytes(s*2*2*3584); got != want {
		t.Errorf("sandwich norms keep %d bytes, their two inputs are %d", got, want)
	}
}

// TestLoRASaved: adapters keep their rank-wide input beside what the frozen
// layer keeps.
func TestLoRASaved(t *testing.T) {
	const s, r = 4096, 16
	m := mustModel(t, "llama-3-8b")
	base := BuildLayer(m, &m.Layers[0], with(nil), s)
	lora := BuildLayer(m, &m.Layers[0], with(func(p *plan.Plan) { p.Tuning, p.LoRARank = plan.LoRA, r }), s)
	if got, want := lora.Saved-base.Saved, unit.Bytes(s*2*r*7); got != want { // q, k, v, o, gate, up, down
		t.Errorf("adapters keep %d bytes, want %d", got, want)
	}
}
