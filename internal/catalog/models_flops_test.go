package catalog

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func mustModel(t *testing.T, name string) *model.Model {
	t.Helper()
	m, err := Model(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPublishedFLOPs holds training FLOPs per token to published figures, in
// GFLOP. They leave the router out, which adds 0.25-0.5 %; hence 0.6 %, and 0.5 %
// for DeepSeek-V3. Its first two are arXiv:2505.09343 table 4 (model FLOP/s over
// tokens/s), the third the performance summary of NVIDIA-NeMo/Megatron-Bridge; the
// others are vendors' benchmark figures collected without a stated page.
func TestPublishedFLOPs(t *testing.T) {
	for _, c := range []struct {
		model  string
		seq    int64
		mask   model.Mask
		mtp    int
		gflop  float64
		within float64
	}{
		{"deepseek-v3", 4096, model.Causal, 0, 249.7, 0.005},
		{"deepseek-v3", 4096, model.Full, 0, 280.2, 0.005},
		{"deepseek-v3", 4096, model.Causal, 1, 260.0, 0.005},
		{"llama-3-8b", 8192, model.Causal, 0, 51.5, 0.006},
		{"llama-3-70b", 8192, model.Causal, 0, 449, 0.006},
		{"llama-3-70b", 8192, model.Full, 0, 481, 0.006},
		{"llama-3.1-405b", 8192, model.Causal, 0, 2524, 0.006},
		{"qwen3-235b-a22b", 4096, model.Causal, 0, 148, 0.006},
		{"qwen3-30b-a3b", 4096, model.Causal, 0, 23, 0.006},
		{"kimi-k2", 4096, model.Causal, 0, 204.5, 0.006},
	} {
		got := float64(mustModel(t, c.model).FLOPsPerToken(c.seq, c.mask, c.mtp)) / 1e9
		t.Logf("%s: %.2f GFLOP, published %g (%+.2f %%)", c.model, got, c.gflop, 100*(got/c.gflop-1))
		if math.Abs(got/c.gflop-1) > c.within {
			t.Errorf("%s: %.2f GFLOP per token, published %g", c.model, got, c.gflop)
		}
	}
}

// TestDeepSeekV3 counts the model of arXiv:2412.19437 exactly from its shapes.
func TestDeepSeekV3(t *testing.T) {
	const (
		h, vocab, heads     = 7168, 129280, 128
		attention           = h*1536 + 1536 + 1536*heads*192 + h*576 + 512 + 512*heads*256 + heads*128*h
		expert              = 3 * h * 2048
		dense               = attention + 3*h*18432 + 2*h
		routed              = attention + 257*expert + 256*h + 256 + 2*h
		mtp                 = routed + 2*h*h + 3*h
		embeddingAndHead    = 2 * vocab * h
		total               = 3*dense + 58*routed + h + embeddingAndHead
		unusedExperts       = 58 * 248 * expert
		publishedWithMTP    = 685e9 // deepseek-ai/DeepSeek-V3:README.md
		publishedMTP        = 11.6e9
		publishedActive     = 37.55e9
		publishedTotalExact = 671.03e9
	)
	m := mustModel(t, "deepseek-v3")
	if m.Params() != total || m.ActiveParams() != total-unusedExperts || m.MTPParams() != mtp || m.CheckpointParams() != total+mtp+embeddingAndHead {
		t.Errorf("counted %d, %d active, %d MTP, %d in files; by hand %d, %d, %d, %d", m.Params(), m.ActiveParams(), m.MTPParams(), m.CheckpointParams(),
			int64(total), int64(total-unusedExperts), int64(mtp), int64(total+mtp+embeddingAndHead))
	}
	for _, c := range []struct {
		what      string
		got       int64
		published float64
		halfDigit float64
	}{
		{"total", m.Params(), publishedTotalExact, 5e6},
		{"active", m.ActiveParams(), publishedActive, 5e6},
		{"MTP", m.MTPParams(), publishedMTP, 5e7},
		{"files", m.CheckpointParams(), 684.5e9, 5e7},
		{"files as published", m.CheckpointParams(), publishedWithMTP, 5.2e8}, // 684.49 B, printed as 685B
	} {
		if math.Abs(float64(c.got)-c.published) > c.halfDigit {
			t.Errorf("%s: %d, published %.5g", c.what, c.got, c.published)
		}
	}
	if got := m.KVBytesPerToken(unit.BF16, 0); got != 70272 {
		t.Errorf("KV cache %g B per token, want 70272", got)
	}
	// A stage of four MoE layers holds 46.0 B (arXiv:2502.07846).
	if got := 4 * m.LayerParams(&m.Layers[10]); math.Abs(float64(got)-46.0e9) > 5e7 {
		t.Errorf("four MoE layers hold %d, published 46.0 B", got)
	}
}
