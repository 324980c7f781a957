package model

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// gpt is a dense multi-head model with an ungated FFN of 4 h and no biases.
func gpt(layers, h, heads, vocab int64) *Model {
	l := Layer{
		Attention: Attention{Heads: heads, KVHeads: heads, QKDim: h / heads, VDim: h / heads},
		FFN:       FFN{Inner: 4 * h},
		Norms:     2,
	}
	m := &Model{Hidden: h, Vocab: vocab}
	for range layers {
		m.Layers = append(m.Layers, l)
	}
	return m
}

// TestDenseFormula: 72 B s L h^2 (1 + s/6h + V/12hL) FLOPs per step, attention
// counted in full (arXiv:2104.04473 eq. 3 without recomputation).
func TestDenseFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		layers, heads, vocab, s := 1+rng.Int64N(100), 1+rng.Int64N(64), 1+rng.Int64N(100000), 1+rng.Int64N(10000)
		h := heads * 8 * (1 + rng.Int64N(16))
		got := float64(gpt(layers, h, heads, vocab).FLOPsPerToken(s, Full, 0))
		L, H, V, S := float64(layers), float64(h), float64(vocab), float64(s)
		want := 72 * L * H * H * (1 + S/(6*H) + V/(12*H*L))
		if math.Abs(got/want-1) > 1e-12 {
			t.Fatalf("L=%d h=%d V=%d s=%d: %g, formula %g", layers, h, vocab, s, got, want)
		}
	}
}

// TestTinyByHand counts one layer of every kind by hand.
func TestTinyByHand(t *testing.T) {
	m := &Model{Hidden: 10}
	for _, c := range []struct {
		name string
		l    Layer
		want int64
	}{
		{"gqa with biases and norms", Layer{
			Attention: Attention{Heads: 4, KVHeads: 2, QKDim: 3, VDim: 3, QKVBias: true, OutBias: true, QKNorm: 6, Sinks: 4},
			FFN:       FFN{Inner: 7, Gated: true}, Norms: 2,
		}, (10*12 + 12) + 2*(10*6+6) + (12*10 + 10) + 6 + 4 + 3*70 + 20},
		{"gated output, keys as values", Layer{
			Attention: Attention{Heads: 4, KVHeads: 2, QKDim: 3, VDim: 3, OutGate: true, SharedKV: true},
			FFN:       FFN{Inner: 7, Bias: true}, Norms: 4,
		}, 10*24 + 10*6 + 12*10 + (70 + 7) + (70 + 10) + 40},
		{"mla", Layer{
			Attention: Attention{Kind: MLA, Heads: 4, QRank: 6, KVRank: 5, Rope: 2, QKDim: 5, VDim: 3, Indexer: &Indexer{Heads: 2, Dim: 3, TopK: 1}},
			FFN:       FFN{Inner: 7, Gated: true}, Norms: 2,
		}, (10*6 + 6 + 6*20) + (10*7 + 5 + 5*4*(3+3)) + 12*10 + (6*6 + 10*3 + 6 + 10*2) + 210 + 20},
		{"linear with experts", Layer{
			Attention: Attention{Kind: Linear, Heads: 4, KeyHeads: 2, QKDim: 3, VDim: 2, ConvWidth: 4},
			FFN:       FFN{Gated: true, Experts: 8, TopK: 2, ExpertInner: 3, SharedInner: 4, SharedGate: true, RouterBias: true}, Norms: 2,
		}, (2*10*6 + 2*10*8 + 2*10*4 + (6+6+8)*4 + 8 + 2 + 8*10) + (80 + 8 + 3*40 + 10 + 8*3*30) + 20},
	} {
		if got := m.LayerParams(&c.l); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestRoleSums: roles partition the parameters, and active ones are some of all.
func TestRoleSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		m := random(rng)
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		var sum int64
		for role, n := range m.RoleParams() {
			if Role(role) != RoleMTP {
				sum += n
			}
		}
		if sum != m.Params() {
			t.Fatalf("roles sum to %d of %d", sum, m.Params())
		}
		var layer int64
		for _, n := range m.ParamsByRole(&m.Layers[0]) {
			layer += n
		}
		if layer != m.LayerParams(&m.Layers[0]) {
			t.Fatalf("roles of a layer sum to %d of %d", layer, m.LayerParams(&m.Layers[0]))
		}
		if a := m.ActiveParams(); a <= 0 || a > m.Params() || m.MaxExperts() == 0 && a != m.Params() {
			t.Fatalf("%d active of %d", a, m.Params())
		}
		s := 1 + rng.Int64N(5000)
		if causal, full := m.FLOPsPerToken(s, Causal, 0), m.FLOPsPerToken(s, Full, 0); causal > full || causal <= 0 {
			t.Fatalf("causal %g, full %g", causal, full)
		}
	}
}

// random makes a small valid model of mixed layers.
func random(rng *rand.Rand) *Model {
	m := &Model{Hidden: 1 + rng.Int64N(64), Vocab: 1 + rng.Int64N(500), Tied: rng.IntN(2) == 0, Norm: Norm(rng.IntN(3)), Positions: rng.Int64N(9)}
	for range 1 + rng.IntN(6) {
		kv, d := 1+rng.Int64N(4), 2+rng.Int64N(8)
		a := Attention{Kind: Kind(rng.IntN(3)), Heads: kv * (1 + rng.Int64N(4)), QKDim: d, VDim: d, Window: rng.Int64N(2) * 64}
		switch a.Kind {
		case GQA:
			a.KVHeads = kv
		case MLA:
			a.KVRank, a.QRank, a.Rope = 1+rng.Int64N(9), rng.Int64N(9), 1
		case Linear:
			a.KeyHeads, a.ConvWidth = kv, 4
		}
		f := FFN{Inner: 1 + rng.Int64N(99), Gated: true}
		if rng.IntN(2) == 0 {
			e := 1 + rng.Int64N(16)
			f = FFN{Experts: e, TopK: 1 + rng.Int64N(e), ExpertInner: 1 + rng.Int64N(50), SharedInner: rng.Int64N(30), Gated: true, Bias: rng.IntN(2) == 0}
		}
		m.Layers = append(m.Layers, Layer{Attention: a, FFN: f, Norms: 2})
	}
	return m
}

// TestPairs: a window, a chunk or a selection as long as the sequence changes
// nothing, and a shorter one never adds pairs.
func TestPairs(t *testing.T) {
	full := Attention{Heads: 1, KVHeads: 1, QKDim: 1, VDim: 1}
	for _, mask := range []Mask{Causal, Full} {
		for _, s := range []int64{1, 7, 100, 4096} {
			want := full.Pairs(s, mask)
			for w := int64(1); w <= 2*s; w += 1 + s/5 {
				window, chunk, sparse := full, full, full
				window.Window, chunk.Chunk, sparse.Indexer = w, w, &Indexer{Heads: 1, Dim: 1, TopK: w}
				for _, a := range []Attention{window, chunk, sparse} {
					if got := a.Pairs(s, mask); got > want || w >= s && got != want {
						t.Errorf("s=%d w=%d: %g pairs of %g", s, w, got, want)
					}
				}
			}
		}
	}
	// 10 tokens in chunks of 4: 4 + 4 + 2, squares halved
	a := Attention{Chunk: 4}
	if got := a.Pairs(10, Causal); got != (16+16+4)/2.0 {
		t.Errorf("chunked pairs %g", got)
	}
}

func TestKVCache(t *testing.T) {
	// DeepSeek-V3: 61 x (512 + 64) elements of 2 bytes = 70,272 B (arXiv:2412.19437; fact "70.3 kB at 16 bit")
	m := &Model{Hidden: 7168}
	for range 61 {
		m.Layers = append(m.Layers, Layer{Attention: Attention{Kind: MLA, KVRank: 512, Rope: 64}})
	}
	if got := m.KVBytesPerToken(unit.BF16, 0); got != 70272 {
		t.Errorf("%g bytes per token, want 70272", got)
	}
	// An MTP module is a 62nd layer that attends; one that the model lacks adds nothing.
	m.MTP = m.Layers[:1]
	for _, mtp := range []int{1, 2} {
		if got := m.KVBytesPerToken(unit.BF16, mtp); got != 71424 {
			t.Errorf("%g bytes per token with %d modules, want 71424", got, mtp)
		}
	}
	// Llama 3 70B: 80 layers x 2 x 8 heads x 128 x 2 B
	if got := 80 * (&Attention{Heads: 64, KVHeads: 8, QKDim: 128, VDim: 128}).KVElements() * 2; got != 327680 {
		t.Errorf("%d bytes per token, want 327680", got)
	}
}

func TestAttentionSummary(t *testing.T) {
	at := func(as ...Attention) string {
		m := &Model{}
		for _, a := range as {
			m.Layers = append(m.Layers, Layer{Attention: a})
		}
		return m.AttentionSummary()
	}
	mha, gqa, mqa := Attention{Heads: 4, KVHeads: 4}, Attention{Heads: 4, KVHeads: 2}, Attention{Heads: 4, KVHeads: 1}
	local, mla, linear := gqa, Attention{Kind: MLA}, Attention{Kind: Linear}
	local.Window = 5
	sparse := mla
	sparse.Indexer = &Indexer{}
	for want, got := range map[string]string{
		"mha": at(mha), "gqa": at(gqa, gqa), "mqa": at(mqa), "mla": at(mla), "mla+sparse": at(sparse),
		"gqa+sliding": at(local, gqa, local), "hybrid linear x2, gqa x1": at(linear, linear, gqa),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for names, change := range map[string]func(m *Model){
		"hidden size":       func(m *Model) { m.Hidden = -1 },
		"vocabulary":        func(m *Model) { m.Vocab = 0 },
		"number of layers":  func(m *Model) { m.Layers = nil },
		"attention heads":   func(m *Model) { m.Layers[1].Attention.Heads = 0 },
		"key/value heads":   func(m *Model) { m.Layers[1].Attention.KVHeads = 3 },
		"ffn size":          func(m *Model) { m.Layers[1].FFN.Inner = 1 << 40 },
		"experts per token": func(m *Model) { m.Layers[0].FFN = FFN{Experts: 2, TopK: 3, ExpertInner: 1} },
		"2 groups":          func(m *Model) { m.Layers[0].FFN = FFN{Experts: 3, TopK: 1, ExpertInner: 1, Groups: 2} },
		"one of them is mist": func(m *Model) {
			m.Hidden, m.Layers[0].FFN.Inner = 1<<20, 1<<23
			m.Layers[0].FFN.Experts, m.Layers[0].FFN.TopK, m.Layers[0].FFN.ExpertInner = 1<<16, 1, 1<<23
		},
	} {
		m := gpt(2, 64, 4, 100)
		change(m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("error %v does not name %s", err, names)
		}
	}
}
