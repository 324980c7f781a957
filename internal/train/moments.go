package train

import (
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Moments is a plan's step in time and space: what every pipeline rank runs and
// when, what travels between ranks, how the step closes and what memory holds.
type Moments struct {
	Layout *sched.Layout
	Waits  [][][NumWaits]unit.Seconds // per rank and pass of Layout: time inside the pass beside kernels
	Sends  []Send
	Ranks  []RankMoments
}

// Send is an activation, or its gradient, on its way over a chunk boundary; one
// message for one micro-batch.
type Send struct {
	From, To          int // pipeline ranks
	MicroBatch, Chunk int // Chunk is the one that sends
	Backward          bool
	Network           bool // between nodes; else the scale-up link
	Start, End        unit.Seconds
}

// RankMoments is one pipeline rank after its passes, and its memory in bytes per GPU.
type RankMoments struct {
	Wait, Update unit.Seconds // data-parallel collectives left visible, the optimizer
	Memory       mem.Parts
}

// Moments lays the plan's estimated step out. The passes are those of the plan's
// schedule; without a pipeline all micro-batches follow each other. It fails
// where they are too many to be listed.
func (e *Evaluator) Moments(p *plan.Plan) (*Moments, error) {
	l := e.prepare(p)
	spec := e.spec(p, &l)
	spec.MicroBatches = p.MicroBatches(e.job.GlobalBatch)
	if err := spec.Drawable(); err != nil {
		return nil, err
	}
	lay, err := sched.Lay(&spec)
	if err != nil {
		return nil, err
	}
	m := &Moments{Layout: lay}
	for rank, list := range lay.Ranks {
		waits := make([][NumWaits]unit.Seconds, len(list))
		for i := range list {
			r := Result{Plan: *p, Experts: e.job.Model.MoE()}
			r.passWaits(&list[i], &l)
			waits[i] = r.Waits
			m.send(rank, &list[i], p, &l)
		}
		m.Waits = append(m.Waits, waits)
	}
	e.ends(p, &l)
	locals := p.Schedule.LocalChunks(p.VPP)
	m.Ranks = make([]RankMoments, p.PP)
	for rank := range m.Ranks {
		kind := l.topo.rankKind(p, rank, locals)
		own := l.topo.ranks[kind]
		own.held = sched.InFlight(p.Schedule, p.PP, spec.MicroBatches, p.VPP, rank)
		if p.PP == 1 {
			own.held = locals
		}
		m.Ranks[rank] = RankMoments{e.closings[kind].wait, e.closings[kind].update, rankMemory(p, &l, &own, (*chunk).activations)}
	}
	return m, nil
}

// rankKind finds a rank's kind by what its chunks are.
func (t *topology) rankKind(p *plan.Plan, rank, locals int) int {
	for k := range t.ranks {
		same := true
		for i := range locals {
			same = same && t.ranks[k].locals[i] == t.of[p.Schedule.ChunkAt(rank, i, p.PP)]
		}
		if same {
			return k
		}
	}
	return 0 // not reached: every rank was added to one
}

// send adds what a pass sends: a forward half to the next chunk, a backward half
// that holds the input gradient to the one before.
func (m *Moments) send(rank int, x *sched.Placed, p *plan.Plan, l *layout) {
	add := func(chunk, to, mb, boundary int, backward bool) {
		if to < 0 || to >= len(l.topo.of) {
			return
		}
		peer, mirror := p.Schedule.RankOf(to, p.PP, p.VPP)
		if own, _ := p.Schedule.RankOf(chunk, p.PP, p.VPP); own != rank {
			peer = mirror // the other direction of DualPipe
		}
		if peer == rank {
			return // the turn of a V stays on its rank
		}
		s := Send{From: rank, To: peer, MicroBatch: mb, Chunk: chunk, Backward: backward, Network: l.topo.cross[boundary] == between, Start: x.End}
		took := l.hop[l.topo.cross[boundary]].estimate
		if !p.Overlap.PP { // the rank itself waits for its sends, in the pass
			s.Start -= took
		}
		s.End = s.Start + took
		m.Sends = append(m.Sends, s)
	}
	switch x.Pass {
	case sched.F:
		add(x.Chunk, x.Chunk+1, x.MicroBatch, x.Chunk, false)
	case sched.B:
		add(x.Chunk, x.Chunk-1, x.MicroBatch, x.Chunk-1, true)
	case sched.FB:
		add(x.Chunk, x.Chunk+1, x.MicroBatch, x.Chunk, false)
		add(x.BackChunk, x.BackChunk-1, x.BackMicroBatch, x.BackChunk-1, true)
	}
}
