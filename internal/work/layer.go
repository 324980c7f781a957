package work

import (
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Layer is the work of one transformer layer on one rank for one micro-batch,
// and what it leaves in memory.
type Layer struct {
	Ops    []Op
	Params Params
	// Saved is held from the forward to the backward pass of a micro-batch;
	// Input, part of it, is the layer's own input, all that full recomputation keeps.
	Saved, Input unit.Bytes
	// Dropped is what recomputation rebuilds just before the backward pass.
	Dropped unit.Bytes
	// Working is the largest temporary: gradients in flight of the widest operation.
	Working unit.Bytes
}

// Params counts one rank's share of parameters in the buckets that shard alike:
// Dense over data parallelism, Expert over the replicas of the expert shard.
// Trained ones are those with gradients: all, or the adapters.
type Params struct {
	Dense, Expert               int64
	TrainedDense, TrainedExpert int64
}

// Add sums n times q into p.
func (p *Params) Add(q Params, n int64) {
	p.Dense += n * q.Dense
	p.Expert += n * q.Expert
	p.TrainedDense += n * q.TrainedDense
	p.TrainedExpert += n * q.TrainedExpert
}

// builder collects one layer's operations on one rank.
type builder struct {
	m    *model.Model
	p    *plan.Plan
	seq  int64 // tokens of a whole sequence
	rows int64 // tokens on this rank outside tensor-parallel regions' gather: micro-batch x seq / cp
	own  int64 // rows / tp with sequence parallelism, otherwise rows
	lay  Layer
	made *Maker
}

const bf16 = 2 // bytes of a 16-bit element

// BuildLayer lists the operations of layer l under plan p for sequences of seq
// tokens. Only tp, cp, ep, etp, sp, micro-batch, recomputation, precision,
// tuning and the attention kernel matter; pp, dp and the schedule do not.
func BuildLayer(m *model.Model, l *model.Layer, p *plan.Plan, seq int64) Layer {
	return new(Maker).Layer(m, l, p, seq)
}

// block is one transformer block with its parameters. Sandwich norms follow each
// half; a parallel block feeds both halves from one norm.
func (b *builder) block(l *model.Layer) {
	b.attention(&l.Attention)
	if l.Norms >= 4 {
		b.postNorm("attention output norm", partAttention)
	}
	if l.Norms != 1 {
		b.norm("ffn norm", partName(&l.FFN))
	}
	b.ffn(&l.FFN)
	if l.Norms >= 4 {
		b.postNorm("ffn output norm", partName(&l.FFN))
	}
	b.params(b.made.weightsOf(b.m, l))
}

func (k *Maker) builder(m *model.Model, p *plan.Plan, seq int64) builder {
	b := builder{m: m, p: p, seq: seq, made: k, lay: Layer{Ops: k.ops[:0]}}
	b.rows = int64(p.MicroBatch) * seq / int64(p.CP)
	b.own = b.rows
	if p.SP {
		b.own /= int64(p.TP)
	}
	return b
}

// finish applies full recomputation: only the input stays, every forward
// operation runs again.
func (b *builder) finish() {
	l := &b.lay
	if b.p.Recompute&plan.ReFull == 0 {
		return
	}
	ops := b.made.spare[:0]
	for _, op := range l.Ops {
		if op.Phase == Recompute {
			continue
		}
		ops = append(ops, op)
		if op.Phase == Forward {
			op.Phase = Recompute
			ops = append(ops, op)
		}
	}
	b.made.spare, l.Ops = l.Ops, ops
	l.Dropped += l.Saved - l.Input
	l.Saved = l.Input
}

// save records bytes kept for the backward pass, or rebuilt when module m is recomputed.
func (b *builder) save(n unit.Bytes, m plan.Recompute) {
	if b.p.Recompute&m != 0 {
		b.lay.Dropped += n
		return
	}
	b.lay.Saved += n
}

// params counts this rank's share of the weights: matrices split over tensor
// parallelism (by whole heads, with copies where heads are fewer than ranks),
// experts over expert and expert-tensor parallelism, shared experts over
// expert-tensor parallelism like the routed ones beside which they run,
// everything else whole.
func (b *builder) params(ws []model.Weight) {
	for i := range ws {
		w := &ws[i]
		n, expert := shard(w, b.p)
		a := adapterParams(w, b.p)
		p := &b.lay.Params
		if expert {
			p.Expert += n + a
			p.TrainedExpert += a
		} else {
			p.Dense += n + a
			p.TrainedDense += a
		}
		if b.p.Tuning == plan.FullTraining {
			if expert {
				p.TrainedExpert += n
			} else {
				p.TrainedDense += n
			}
		}
	}
}

// shard is the parameters of w on one rank.
func shard(w *model.Weight, p *plan.Plan) (n int64, expert bool) {
	tp := int64(p.TP)
	switch w.Role {
	case model.RoleExpert:
		copies := w.Copies / int64(p.EP)
		return copies * (w.In*w.Out/int64(p.ETP) + biasShare(w, int64(p.ETP))), true
	case model.RoleShared:
		tp = int64(p.ETP)
	}
	if w.Split == model.SplitNone || w.In == 0 {
		return w.Params(), false
	}
	if w.Units > 0 && w.Units < tp {
		return w.Params() / w.Units, false
	}
	return w.In*w.Out/tp + biasShare(w, tp), false
}

// biasShare is the bias of one rank: split with the output, whole where the input is split.
func biasShare(w *model.Weight, ranks int64) int64 {
	if w.Split == model.SplitIn {
		return w.Bias
	}
	return w.Bias / ranks
}

// adapterParams is a LoRA pair's share: In x r and r x Out, the split side
// divided like the weight it adapts; routers, norms and embeddings have none.
func adapterParams(w *model.Weight, p *plan.Plan) int64 {
	if p.Tuning == plan.FullTraining || w.In == 0 || w.Role == model.RoleRouter {
		return 0
	}
	r, in, out := int64(p.LoRARank), w.In, w.Out
	ranks, copies := int64(p.TP), int64(1)
	if w.Role == model.RoleExpert || w.Role == model.RoleShared {
		ranks = int64(p.ETP)
	}
	if w.Role == model.RoleExpert {
		copies = w.Copies / int64(p.EP)
	}
	switch w.Split {
	case model.SplitOut:
		out /= ranks
	case model.SplitIn:
		in /= ranks
	}
	return copies * r * (in*max(1, w.Parts) + out)
}
