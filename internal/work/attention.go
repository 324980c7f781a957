package work

import (
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

const partAttention = "attention"

// attention adds the attention half of a layer: norm, projections, core, output
// projection and their collectives.
func (b *builder) attention(a *model.Attention) {
	b.norm("attention norm", partAttention)
	b.blockIn(partAttention, blockWidth(b.m.Hidden, a))
	tp := int64(b.p.TP)
	heads := a.Heads / tp
	switch a.Kind {
	case model.MLA:
		b.mlaProjections(a, heads)
	case model.Linear:
		b.linearProjections(a)
	default:
		b.gqaProjections(a, heads)
	}
	if a.Indexer != nil {
		b.indexer(a)
	}
	b.context(a, heads)
	b.core(a, heads)
	o := heads * a.VDim
	if saved := b.p.Precision.SavedInput; b.ownInput(a) {
		b.save(saved.Size(b.rows*o), 0)
	}
	b.linear(product{name: "o", part: partAttention, rows: b.rows, in: o, out: b.m.Hidden, format: b.p.Precision.GEMM})
	b.blockOut(partAttention)
}

// ownInput tells whether the output projection stores an input that is not the
// core's output: a low-precision copy, or the product with a gate.
func (b *builder) ownInput(a *model.Attention) bool {
	return b.p.Precision.SavedInput.Bits() < 16 || a.OutGate || a.Kind == model.Linear
}

// blockWidth is the features that tensor parallelism gathers before attention:
// the whole input, or MLA's latents and rotary key where the query has a latent too.
func blockWidth(h int64, a *model.Attention) int64 {
	if a.Kind == model.MLA && a.QRank > 0 {
		return a.QRank + a.KVRank + a.Rope
	}
	return h
}

// keyValue is the features of the keys and values that one rank's core reads per
// token: at least one head, copied where ranks outnumber heads.
func (b *builder) keyValue(a *model.Attention, heads int64) int64 {
	if a.Kind == model.GQA {
		heads = max(1, a.KVHeads/int64(b.p.TP))
	}
	if a.SharedKV {
		return heads * a.QKDim
	}
	return heads * (a.QKDim + a.VDim)
}

// gqaProjections is q, k and v as one product, rotary embedding included.
func (b *builder) gqaProjections(a *model.Attention, heads int64) {
	kvHeads := max(1, a.KVHeads/int64(b.p.TP))
	q, k, v := heads*a.QKDim, kvHeads*a.QKDim, kvHeads*a.VDim
	parts := int64(3) // the gate is part of q
	if a.SharedKV {
		v, parts = 0, 2
	}
	gate := int64(0)
	if a.OutGate {
		gate = heads * a.VDim
		b.save(unit.Bytes(b.rows*gate*bf16), 0)
		b.pass("output gate", partAttention, Forward, b.rows*3*gate*bf16)
		b.pass("output gate", partAttention, Input, b.rows*5*gate*bf16)
	}
	b.linear(product{name: "qkv", part: partAttention, rows: b.rows, in: b.m.Hidden, out: q + k + v + gate, format: b.p.Precision.GEMM, fused: true, parts: parts})
	b.save(unit.Bytes(b.rows*(q+k+v)*bf16), 0)
	if b.m.Positions == 0 && !a.NoRoPE {
		b.rope(q + k)
	}
	if a.QKNorm > 0 {
		b.pass("qk norm", partAttention, Forward, 2*b.rows*(q+k)*bf16)
		b.pass("qk norm", partAttention, Input, 3*b.rows*(q+k)*bf16)
		if b.p.Recompute&plan.ReNorm != 0 {
			b.pass("qk norm", partAttention, Recompute, 2*b.rows*(q+k)*bf16)
		}
		b.save(unit.Bytes(b.rows*(q+k)*bf16), plan.ReNorm) // what the core reads, beside the norm's input
	}
}

// rope reads and writes width elements per token, forward and backward.
func (b *builder) rope(width int64) {
	b.pass("rope", partAttention, Forward, 2*b.rows*width*bf16)
	b.pass("rope", partAttention, Input, 2*b.rows*width*bf16)
}

// mlaProjections makes the latents on this rank's own tokens, gathers nothing
// but them, and expands them to heads (arXiv:2405.04434 section 2.1). Without a
// query latent the query needs the whole input gathered.
func (b *builder) mlaProjections(a *model.Attention, heads int64) {
	f := b.p.Precision.GEMM
	nope, q := a.QKDim-a.Rope, heads*a.QKDim
	kv := heads * (nope + a.VDim)
	latent := a.KVRank + a.Rope
	down, parts := latent+a.QRank, int64(1)
	if a.QRank > 0 {
		parts = 2
	}
	b.linear(product{name: "q_a, kv_a", part: partAttention, rows: b.own, in: b.m.Hidden, out: down, format: f, fused: true, parts: parts})
	b.save(unit.Bytes(b.own*down*bf16), 0)
	b.pass("latent norms", partAttention, Forward, 2*b.own*down*bf16)
	b.pass("latent norms", partAttention, Input, 3*b.own*down*bf16)
	if b.p.Recompute&plan.ReNorm != 0 {
		b.pass("latent norms", partAttention, Recompute, 2*b.own*down*bf16)
	}
	b.save(b.p.Precision.SavedInput.Size(b.own*(a.QRank+a.KVRank)), plan.ReNorm)
	querySaved := plan.ReMLAUp
	if a.QRank > 0 {
		b.linear(product{name: "q_b", part: partAttention, rows: b.rows, in: a.QRank, out: q, format: f, fused: true, again: plan.ReMLAUp})
	} else {
		b.linear(product{name: "q", part: partAttention, rows: b.rows, in: b.m.Hidden, out: q, format: f, fused: true})
		querySaved = plan.ReNone
	}
	b.linear(product{name: "kv_b", part: partAttention, rows: b.rows, in: a.KVRank, out: kv, format: f, fused: true, again: plan.ReMLAUp})
	b.save(unit.Bytes(b.rows*q*bf16), querySaved)
	b.save(unit.Bytes(b.rows*heads*(a.QKDim+a.VDim)*bf16), plan.ReMLAUp)
	// the shared rotary key is copied beside every head's part, the query's rotary part is turned in place
	assemble := heads * (2*a.Rope + nope + a.QKDim)
	b.pass("rope and key assembly", partAttention, Forward, b.rows*assemble*bf16)
	b.pass("rope and key assembly", partAttention, Input, b.rows*assemble*bf16)
	if b.p.Recompute&plan.ReMLAUp != 0 {
		b.pass("rope and key assembly", partAttention, Recompute, b.rows*assemble*bf16)
	}
}

func (b *builder) linearProjections(a *model.Attention) {
	tp := int64(b.p.TP)
	k, v := max(1, a.KeyHeads/tp)*a.QKDim, a.Heads/tp*a.VDim
	out := 2*k + 2*v + 2*a.Heads/tp
	b.linear(product{name: "q, k, v, z, gates", part: partAttention, rows: b.rows, in: b.m.Hidden, out: out, format: b.p.Precision.GEMM, fused: true, parts: 6})
	b.save(unit.Bytes(b.rows*(out+2*k+v)*bf16), 0)
	b.pass("short convolution", partAttention, Forward, 2*b.rows*(2*k+v)*bf16)
	b.pass("short convolution", partAttention, Input, 3*b.rows*(2*k+v)*bf16)
	b.pass("gated norm", partAttention, Forward, 3*b.rows*v*bf16)
	b.pass("gated norm", partAttention, Input, 5*b.rows*v*bf16)
}
