package infer

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// share is what one rank of the busiest replica does in one of the step's
// micro-batches (one per pipeline stage).
type share struct {
	decode   work.DecodeLoad
	prompt   work.PromptLoad
	rows     int64 // tokens of the replica
	all      int64 // tokens of all replicas
	sampled  int64 // rows of the head
	expanded int64 // latents that prompts expand
	batches  int64 // micro-batches in flight
}

// split deals a batch to replicas and micro-batches. Replicas are taken as evenly
// loaded with generating sequences; prompts are whole on one replica each. Stages read a
// chunk in as many pieces, which together see the keys that it sees and expand its latents once.
func (e *Engine) split(b *Batch) share {
	p := &e.setup.Plan
	dp, pp := int64(p.DP), int64(p.PP)
	var s share
	tokens := int64(1 + b.Draft)
	if b.Decode > 0 {
		s.decode = work.DecodeLoad{Sequences: ceil(ceil(int64(b.Decode), dp), pp), Tokens: tokens,
			Context: float64(b.DecodeContext) / float64(b.Decode)}
		s.rows = s.decode.Sequences * tokens
		s.all = ceil(int64(b.Decode), pp) * tokens
		s.sampled = s.rows
	}
	s.batches = ceil(int64(b.Decode), dp)
	if b.Prefill > 0 {
		prompts := int64(max(b.Prompts, 1))
		mine := ceil(prompts, dp)
		each := ceil(b.Prefill, prompts)
		if b.Busiest > 0 {
			each = min(each, ceil(b.Busiest, mine))
		}
		piece, before := ceil(each, pp), past(b)
		s.prompt = work.PromptLoad{Prompts: mine, Tokens: piece, Past: before + float64(each-piece)/2}
		s.rows += mine * piece
		s.all += ceil(b.Prefill, pp)
		s.sampled += ceil(mine, pp)
		s.expanded = ceil(mine*(each+int64(before)), pp)
		s.batches += mine * pp
	}
	s.all = max(s.all, s.rows)
	s.batches = min(max(s.batches, 1), pp)
	return s
}

// past is the cached tokens before a mean prompt chunk of the batch: its n tokens
// make n past + n^2/2 pairs.
func past(b *Batch) float64 {
	n := float64(b.Prefill) / float64(max(b.Prompts, 1))
	each := b.PrefillPairs / float64(max(b.Prompts, 1))
	return max(0, each/n-n/2)
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }

// layer adds one layer of kind k to s.
func (e *Engine) layer(s *sums, k *kind, l *share, mode int, weight float64) {
	e.at(s, k.shared[mode], l.rows, weight)
	if k.layer.FFN.MoE() {
		e.at(s, k.experts, l.all, weight)
	}
	a := &k.layer.Attention
	e.scratch = e.ops.DecodeCore(e.scratch[:0], a, l.decode)
	e.scratch = e.ops.PromptCore(e.scratch, a, l.prompt)
	var core sums
	for i := range e.scratch {
		e.op(&core, &e.scratch[i])
	}
	s.add(&core, weight)
	e.at(s, k.absorb, l.rows-l.prompt.Prompts*l.prompt.Tokens, weight)
	e.at(s, k.expand, l.expanded, weight)
}

// Step prices one step of the instance: every generating sequence gets a token (and
// verifies its drafts), every prompt chunk is read. With pipeline stages it is one
// turn of all micro-batches, in which every sequence passes all stages once:
//
//	turn = max(sum of stage times, micro-batches x slowest stage)
func (e *Engine) Step(b *Batch) Step {
	if b.Decode <= 0 && b.Prefill <= 0 {
		return Step{}
	}
	l := e.split(b)
	var all sums
	scale := e.sum(&all, b, &l)
	return e.finish(b, &all, scale)
}

// mode picks the exchange: 1 = that of steps without prompts.
func mode(b *Batch) int {
	if b.Prefill == 0 {
		return 1
	}
	return 0
}

// sum adds up one micro-batch's way through all stages; scale is the turn of the
// pipeline over it.
func (e *Engine) sum(all *sums, b *Batch, l *share) (scale float64) {
	for i := range e.kinds {
		var one sums
		e.layer(&one, &e.kinds[i], l, mode(b), 1)
		all.add(&one, float64(e.kinds[i].count))
		e.kinds[i].last = one.total
	}
	before := all.total
	e.at(all, e.head, l.sampled, 1)
	end := all.total - before
	before = all.total
	e.at(all, e.embed, l.rows, 1)
	start := all.total - before
	if len(e.stages) == 1 {
		return 1
	}
	scale = max(1, float64(l.batches)*e.slowest(start, end)/all.total)
	e.hop(all, l.rows)
	return scale
}

// slowest is the time of the slowest stage; the first one embeds, the last one samples.
func (e *Engine) slowest(start, end float64) float64 {
	worst := 0.0
	for i := range e.stages {
		t := 0.0
		for k, n := range e.stages[i].count {
			t += float64(n) * e.kinds[k].last
		}
		if i == 0 {
			t += start
		}
		if i == len(e.stages)-1 {
			t += end
		}
		worst = max(worst, t)
	}
	return worst
}

// overhead is the engine's own time in a step of b.
func (e *Engine) overhead(b *Batch) unit.Seconds {
	return e.profile.overhead(b, e.setup.Plan.DP, len(e.setup.Model.Layers), e.setup.Eager)
}

// finish turns the sums into a step: kernels, what the engine adds, and the waits for
// the wire. scale is the turn of a pipeline over the sum of its stages.
func (e *Engine) finish(b *Batch, s *sums, scale float64) Step {
	extra, over := s.exchanges*e.extra, float64(e.overhead(b))
	out := Step{Compute: unit.Seconds(s.compute), HBM: unit.Seconds(s.hbm), NVLink: unit.Seconds(s.nvlink), Network: unit.Seconds(s.network),
		Pipes: unit.Seconds(s.pipes), Memory: unit.Seconds(s.memory),
		Wire: unit.Seconds(s.exchanges * e.half)}
	for i := range s.parts {
		out.Parts[i] = unit.Seconds(s.parts[i] * scale)
	}
	out.Parts[Communication] += unit.Seconds(extra)
	out.Parts[Overhead] = unit.Seconds(over)
	for _, t := range out.Parts {
		out.Total += t
	}
	floor := max(s.compute, s.hbm, s.nvlink, s.network, s.exchanges*e.half)
	out.Floor = min(unit.Seconds(floor), out.Total)
	out.Upper = max(out.Total, unit.Seconds(s.upper*scale+extra+over))
	if math.IsInf(float64(out.Total), 1) {
		out.Floor = out.Total
	}
	return out
}
