package infer

import (
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Memory is what the fullest GPU of an instance holds.
type Memory struct {
	Parts  mem.ServingParts // sum = Budget, or more where nothing is left for the cache
	Device unit.Bytes       // of one GPU
	Budget unit.Bytes       // what the engine may take of it
	Stage  int              // pipeline stage of this GPU
	// PerToken is the cache of one token on this GPU; layers with a window or a state
	// keep PerSequence whatever the length, once a sequence is longer than Window.
	PerToken    float64
	PerSequence unit.Bytes
}

// MemoryError says that an instance has no room: for its weights, or for the cache
// of one request.
type MemoryError struct {
	What       string // what does not fit, for example weights of deepseek-v3
	Need, Have unit.Bytes
	Mend       string
}

// Error is one line.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s takes %s per GPU of %s: %s", e.What, unit.FormatGB(e.Need), unit.FormatGB(e.Have), e.Mend)
}

// measure fills the memory table of the stage with the least room for sequences of
// the usual context, and errs where one of them has no room for any.
func (e *Engine) measure() error {
	s := &e.setup
	device := s.Cluster.Device.Capacity()
	if device == 0 {
		return fmt.Errorf("device %s has no memory size: add it to its catalogue entry", s.Cluster.Device.Name)
	}
	if d := s.Cluster.Device; d.Achieved.Memory.Scaled {
		e.assumed = append(e.assumed, cost.RateAssumed("memory size", d.Name, d.Achieved.Memory.Value/d.Peak.Memory.Value))
	}
	budget := unit.Bytes(s.Utilization * float64(device))
	working := e.working()
	least, free := math.Inf(1), unit.Bytes(0) // room for sequences, and the bytes that it is; negative: they are missing
	for i := range e.stages {
		r := mem.ServingRank{Working: working, Axes: e.axes(), Eager: s.Eager, Stored: e.stored(&e.stages[i])}
		embedding, head := e.ops.StoredEnds()
		if i == 0 {
			r.Ends += embedding
		}
		if i == len(e.stages)-1 {
			r.Ends += head
			r.Draft = e.draft()
		}
		parts := mem.OfServing(&r, budget)
		c := e.cache(&e.stages[i])
		left := budget + parts[mem.Cache] - parts.Total()
		room := float64(left) / max(c.bytes(s.Context)/float64(s.Context), 1e-9)
		if room >= least {
			continue
		}
		least, free = room, left
		fixed := c.fixed
		for _, w := range c.windowed {
			fixed += unit.Bytes(float64(w.window) * w.perToken)
		}
		e.load = c
		e.memory = Memory{Parts: parts, Device: device, Budget: budget, Stage: i, PerToken: c.perToken, PerSequence: fixed}
	}
	if free <= 0 {
		return &MemoryError{What: "everything but the cache of " + s.Model.Name, Need: budget - free, Have: budget,
			Mend: "use more GPUs per instance, fewer bits per weight or a larger memory share"}
	}
	e.copies()
	return nil
}

// stored is the weights of a stage's layers on one rank.
func (e *Engine) stored(s *stage) (w work.Stored) {
	for k, n := range s.count {
		w.Add(e.ops.Stored(e.kinds[k].layer), n)
	}
	return w
}

// WorkingSet is the weights that steps read over and over on the fullest stage, per GPU.
// Of an embedding that is not the head too a step reads single rows.
func (e *Engine) WorkingSet() unit.Bytes {
	most := unit.Bytes(0)
	for i := range e.stages {
		w := e.stored(&e.stages[i])
		set := w.Dense + w.Experts + w.Absorbed
		if i == len(e.stages)-1 {
			embedding, head := e.ops.StoredEnds()
			set += head
			if e.setup.Model.Tied && len(e.stages) == 1 {
				set += embedding
			}
		}
		most = max(most, set)
	}
	return most
}

// copies warns where ranks hold the same cache.
func (e *Engine) copies() {
	p := &e.setup.Plan
	a := &e.setup.Model.Layers[0].Attention
	for i := range e.kinds { // a linear layer has no cache to copy
		if a = &e.kinds[i].layer.Attention; a.Kind != model.Linear {
			break
		}
	}
	switch {
	case a.Kind == model.MLA && p.TP > p.DCP:
		e.notes = append(e.notes, note.New(note.LatentCopies, "tp copies", "MLA latent replicated under TP%d: %d copies of KV", p.TP, p.TP/p.DCP))
	case a.Kind == model.GQA && int64(p.TP) > a.KVHeads*int64(p.DCP):
		e.notes = append(e.notes, note.New(note.HeadCopies, "tp copies", "KV heads replicated under TP%d: %d copies of KV", p.TP, int64(p.TP)/a.KVHeads/int64(p.DCP)))
	}
}

// axes counts the communicators with buffers of their own.
func (e *Engine) axes() int {
	p, n := &e.setup.Plan, 0
	for _, d := range []int{p.TP, p.PP, p.DP, p.EP} {
		if d > 1 {
			n++
		}
	}
	return n
}

// working is the activations of the largest step: residual and input, the operands
// and results of the widest product, and logits in 16 and 32 bit of every sequence that
// a step may generate for, each of which takes one of its tokens.
func (e *Engine) working() unit.Bytes {
	s := &e.setup
	n := s.MaxBatchTokens
	widest := 0.0
	for i := range e.kinds {
		l := e.kinds[i].layer
		ops := e.ops.FFN(e.ops.Attention(e.scratch[:0], l, n), l, n)
		ops = e.ops.Expert(ops, &l.FFN, work.ExpertLoad{All: float64(n * int64(s.Plan.DP))})
		for k := range ops {
			rows := max(ops[k].Rows, float64(ops[k].M*ops[k].Groups))
			widest = max(widest, 2*rows*float64(ops[k].N+ops[k].K))
		}
		e.scratch = ops
	}
	logits := min(s.MaxSequences, n) * ceil(s.Model.Vocab, int64(s.Plan.TP)) * (2 + 4)
	return unit.Bytes(2*2*n*s.Model.Hidden) + unit.Bytes(widest) + unit.Bytes(logits)
}

// draft is the weights of the MTP modules that draft: a layer and the 2h x h
// projection each; embedding and head are the model's (arXiv:2412.19437 section 2.2).
func (e *Engine) draft() unit.Bytes {
	m := e.setup.Model
	var n unit.Bytes
	for i := range min(e.setup.MTP, len(m.MTP)) {
		w := e.ops.Stored(&m.MTP[i])
		n += w.Dense + w.Experts + w.Absorbed + e.ops.Weights.Size(2*m.Hidden*m.Hidden)
	}
	return n
}

// Memory is the table of the fullest GPU.
func (e *Engine) Memory() Memory { return e.memory }
