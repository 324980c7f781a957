package work

import (
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

const (
	partEmbedding = "embedding"
	partHead      = "head"
	partMTP       = "mtp"
)

// BuildEmbedding is the lookup before the first layer: a gather forward and a
// scatter-add of FP32 gradients backward. Its rows are split over the vocabulary.
func BuildEmbedding(m *model.Model, p *plan.Plan, seq int64) Layer {
	return new(Maker).Embedding(m, p, seq)
}

// Embedding is BuildEmbedding with k's memory.
func (k *Maker) Embedding(m *model.Model, p *plan.Plan, seq int64) Layer {
	b := k.builder(m, p, seq)
	n := b.rows * m.Hidden
	b.pass("lookup", partEmbedding, Forward, 2*n*bf16)
	if p.Tuning == plan.FullTraining {
		b.pass("scatter-add", partEmbedding, Weight, n*(bf16+2*4))
	}
	switch tp, size := int64(p.TP), unit.Bytes(n*bf16); {
	case p.TP > 1 && p.SP:
		b.pair("embedding reduce", partEmbedding, AxisTP, ReduceScatter, AllGather, size, tp, 1)
	case p.TP > 1: // the gradient is whole on every rank already
		b.collective("embedding reduce", partEmbedding, Forward, AxisTP, AllReduce, size, tp, 1)
	}
	b.whole(vocabShare(m, p) + m.Positions*m.Hidden)
	if m.EmbedNorm {
		b.postNorm("embedding norm", partEmbedding) // the first layer keeps its output
		b.whole(m.Norm.Params(m.Hidden))
	}
	return k.done(&b)
}

// vocabShare is one rank's part of a vocabulary matrix, the vocabulary rounded
// up to a multiple of tensor parallelism as engines pad it.
func vocabShare(m *model.Model, p *plan.Plan) int64 {
	return vocabRows(m, p) * m.Hidden
}

func vocabRows(m *model.Model, p *plan.Plan) int64 {
	tp := int64(p.TP)
	return (m.Vocab + tp - 1) / tp
}

// whole counts n parameters outside the experts, trained unless only adapters are.
func (b *builder) whole(n int64) {
	b.lay.Params.Dense += n
	if b.p.Tuning == plan.FullTraining {
		b.lay.Params.TrainedDense += n
	}
}

// BuildHead is final norm, LM head and cross-entropy after the last layer. A
// tied head holds its own copy of the matrix only when the pipeline separates it
// from the embedding.
func BuildHead(m *model.Model, p *plan.Plan, seq int64) Layer {
	return new(Maker).Head(m, p, seq)
}

// Head is BuildHead with k's memory.
func (k *Maker) Head(m *model.Model, p *plan.Plan, seq int64) Layer {
	b := k.builder(m, p, seq)
	b.norm("final norm", partHead)
	b.head(partHead)
	n := m.Norm.Params(m.Hidden)
	if !m.Tied || p.EndsApart() {
		n += vocabShare(m, p)
	}
	if m.HeadBias {
		n += vocabRows(m, p)
	}
	b.whole(n)
	return k.done(&b)
}

// head is the product with the vocabulary and its loss: 16-bit logits become
// FP32 probabilities forward and a 16-bit gradient backward.
func (b *builder) head(part string) {
	v := vocabRows(b.m, b.p)
	b.blockIn(part, b.m.Hidden)
	b.linear(product{name: "lm head", part: part, rows: b.rows, in: b.m.Hidden, out: v, format: b.p.Precision.Head, bare: true})
	logits := b.rows * v
	b.pass("cross-entropy", part, Forward, logits*(bf16+4))
	b.pass("cross-entropy", part, Input, logits*(4+bf16))
	b.widest(logits * (bf16 + 4))
}

// BuildMTP is one multi-token-prediction module: two norms, the 2h x h
// projection, a layer and the shared head once more (arXiv:2412.19437 section 2.2).
// Full recomputation repeats projection and layer, not the head.
func BuildMTP(m *model.Model, l *model.Layer, p *plan.Plan, seq int64) Layer {
	return new(Maker).MTP(m, l, p, seq)
}

// MTP is BuildMTP with k's memory.
func (k *Maker) MTP(m *model.Model, l *model.Layer, p *plan.Plan, seq int64) Layer {
	b := k.builder(m, p, seq)
	b.norm("embedding norm", partMTP)
	b.norm("hidden norm", partMTP)
	b.linear(product{name: "projection", part: partMTP, rows: b.own, in: 2 * m.Hidden, out: m.Hidden, format: p.Precision.GEMM, fused: true, bare: true})
	b.block(l)
	b.finish()
	b.norm("final norm", partMTP)
	b.head(partMTP)
	b.whole(2*m.Hidden*m.Hidden + 3*m.Norm.Params(m.Hidden))
	if l == &m.MTP[0] && p.EndsApart() {
		b.whole(vocabShare(m, p)) // the embedding, for all modules of this rank
	}
	return k.done(&b)
}
