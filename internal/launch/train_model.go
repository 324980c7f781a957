package launch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// megatronModel writes a model's shapes as Megatron-LM's arguments, and where its
// data come from. What is no shape (rotary base, router scores) the model's own
// configuration decides, and the notes say so.
func (b *builder) megatronModel(p *plan.Plan, a *args) error {
	m := b.Model
	at := &m.Layers[0].Attention
	for i := range m.Layers {
		if l := &m.Layers[i].Attention; l.Kind != at.Kind || l.Kind == model.Linear || l.Window != 0 || l.Indexer != nil {
			return fmt.Errorf("launch writes megatron-lm's model flags for full GQA and MLA attention, and %s has another in layer %d: use another engine", m.Name, i)
		}
	}
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	a.add("--num-layers", n(int64(len(m.Layers))), "--hidden-size", n(m.Hidden), "--num-attention-heads", n(at.Heads),
		"--max-position-embeddings", strconv.Itoa(b.Train.Seq))
	if at.Kind == model.MLA {
		a.add("--multi-latent-attention", "--kv-channels", n(at.VDim), "--kv-lora-rank", n(at.KVRank), "--qk-head-dim", n(at.QKDim-at.Rope),
			"--qk-pos-emb-head-dim", n(at.Rope), "--v-head-dim", n(at.VDim))
		if at.QRank > 0 {
			a.add("--q-lora-rank", n(at.QRank))
		}
	} else {
		a.add("--kv-channels", n(at.QKDim))
		if at.KVHeads < at.Heads {
			a.add("--group-query-attention", "--num-query-groups", n(at.KVHeads))
		}
	}
	if at.QKNorm > 0 || at.Kind == model.MLA {
		a.add("--qk-layernorm")
	}
	if at.QKVBias {
		a.add("--add-qkv-bias")
	}
	b.megatronFFN(p, a)
	// Megatron-LM's own default of 0.1 is of BERT's time; no plan's figures count it.
	a.add("--attention-dropout", "0.0", "--hidden-dropout", "0.0")
	if m.Norm == model.RMSNorm {
		a.add("--normalization", "RMSNorm")
	}
	if !m.Tied {
		a.add("--untie-embeddings-and-output-weights")
	}
	if m.Positions == 0 {
		a.add("--position-embedding-type", "rope")
	}
	if b.Train.MTP > 0 {
		a.add("--mtp-num-layers", strconv.Itoa(b.Train.MTP))
	}
	if p.UnfusedAttn {
		a.add("--attention-backend", "unfused")
	}
	b.megatronData(a)
	b.note("rotary base and scaling, the norms' epsilon (--norm-epsilon, by default 1e-05), router scores and checkpoints are not shapes: add them from the model's configuration and your recipe")
	return nil
}

func (b *builder) megatronFFN(p *plan.Plan, a *args) {
	m := b.Model
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	inner, f := int64(0), m.FirstMoE()
	for i := range m.Layers {
		inner = max(inner, m.Layers[i].FFN.Inner)
	}
	if inner == 0 && f != nil {
		inner = f.ExpertInner
	}
	a.add("--ffn-hidden-size", n(inner))
	if m.Layers[0].FFN.Gated {
		a.add("--swiglu")
	}
	if !m.Layers[0].FFN.Bias {
		a.add("--disable-bias-linear")
	}
	if f == nil {
		return
	}
	a.add("--num-experts", n(f.Experts), "--moe-router-topk", n(f.TopK), "--moe-ffn-hidden-size", n(f.ExpertInner), "--moe-grouped-gemm")
	if f.SharedInner > 0 {
		a.add("--moe-shared-expert-intermediate-size", n(f.SharedInner))
	}
	if freq := layerFreq(m); freq != "" {
		a.add("--moe-layer-freq", freq)
	}
	if f.Groups > 1 {
		a.add("--moe-router-num-groups", n(f.Groups), "--moe-router-group-topk", n(f.TopGroups))
	}
	if p.EP > 1 {
		// DeepSeek-V3 is trained with DeepEP (arXiv:2412.19437 section 3.2.2), which sends
		// the router's scores as FP32.
		a.add("--moe-token-dispatcher-type", "flex", "--moe-flex-dispatcher-backend", "deepep", "--moe-router-dtype", "fp32")
	}
}

// layerFreq says which layers route, as Megatron-LM's list of zeros and ones; ""
// where all do.
func layerFreq(m *model.Model) string {
	var parts []string
	for i := 0; i < len(m.Layers); {
		n, moe := 1, m.Layers[i].FFN.MoE()
		for i+n < len(m.Layers) && m.Layers[i+n].FFN.MoE() == moe {
			n++
		}
		digit := "0"
		if moe {
			digit = "1"
		}
		parts = append(parts, fmt.Sprintf("[%s]*%d", digit, n))
		i += n
	}
	if len(parts) == 1 {
		return ""
	}
	return "(" + strings.Join(parts, "+") + ")"
}

func (b *builder) megatronData(a *args) {
	if b.Train.Data == "" {
		a.add("--mock-data", "--tokenizer-type", "NullTokenizer", "--vocab-size", strconv.FormatInt(b.Model.Vocab-1, 10))
		b.note("no data were named, so the run reads mock data: give --data")
		return
	}
	a.add("--data-path", b.Train.Data, "--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model", b.ModelPath)
}
