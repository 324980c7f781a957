package api

import (
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Flip is the batch at which a part of a decode step turns compute-bound.
type Flip struct {
	Part  infer.Part
	Batch int64         // sequences generating on one instance; 0 = none up to FlipsTo
	Now   cost.Resource // what binds most of its time at the best point's batch
}

// flipsTo is the largest batch that flips are looked for at.
const flipsTo = 1 << 16

// explain adds what stands beside the best point.
func (a *InferAnswer) explain(q *deploy.Question) error {
	b, v := a.Best.Best, a.Best.Variant
	a.Warnings = b.Warnings
	if len(a.Request.RTT) > 0 && b.Fits && b.Decode.Wire == 0 {
		a.Warnings = a.Warnings.And(note.New(note.RTTIdle, "", "--net-rtt changes nothing of the best plan: each of its instances stays inside a node"))
	}
	if b.Queued {
		a.Warnings = a.Warnings.And(a.queueNote())
	}
	if a.atEdge() {
		a.Warnings = a.Warnings.And(note.New(note.EdgeOfLoads, "upto", "the best lies at the edge of --concurrency: give a wider range, such as 1..%d", 8*b.Concurrency))
	}
	x := b.Layout.Serving
	if b.Layout.Split != nil {
		x = b.Layout.Split.Decode
	}
	in, err := q.Build(v, x)
	if in != nil && in.Engine != nil {
		a.Best.Profile = in.Engine.Setup().Profile
	}
	if !b.Fits || err != nil {
		return nil // nothing runs: there is nothing to explain
	}
	context := q.ISL + q.OSL/2
	a.Warnings = a.Warnings.And(slowerCache(q, v, x, in, b.Batch, context)...)
	flips := in.Engine.Flips(context, flipsTo)
	a.FlipsTo = flipsTo
	n := int64(max(b.Batch, 1))
	rows := in.Engine.Explain(&infer.Batch{Decode: int(n), DecodeContext: n * context})
	for part := range infer.NumParts {
		if !slices.ContainsFunc(rows, func(r infer.Row) bool { return r.Part == part }) {
			continue // the model has no such part
		}
		if part != infer.Communication && part != infer.Overhead {
			a.Flips = append(a.Flips, Flip{part, flips[part], infer.PartBound(rows, part)})
		}
	}
	if !v.TwoBatch {
		tokens := int64(b.Batch)
		if v.Speculation != nil {
			tokens *= int64(1 + v.Speculation.Drafts)
		}
		a.Touched, a.Experts = in.Engine.Touched(float64(tokens))
	}
	a.bounds(in.Engine, v, b.Batch)
	if err := a.drafting(q, x, context); err != nil {
		return err
	}
	if err := a.strategies(q); err != nil {
		return err
	}
	return a.latency(q, 2*in.Engine.Machine().FabricLatency())
}

// slowerCache says by how much a narrow cache makes the decode step slower than one of 16
// bit does; nothing where it does not, by more than the fits of its kernels tell apart.
func slowerCache(q *deploy.Question, v *deploy.Variant, x plan.Serving, in *deploy.Instance, batch int, context int64) note.List {
	if v.KV.Bits() >= unit.BF16.Bits() {
		return nil
	}
	wide := *v
	wide.KV = unit.BF16
	other, err := q.Build(&wide, x)
	if err != nil {
		return nil // the wide cache has no room: there is nothing to choose
	}
	b := infer.Batch{Decode: batch, DecodeContext: int64(batch) * context}
	narrow, plain := in.Engine.Step(&b).Total, other.Engine.Step(&b).Total
	if narrow < plain*(1+toldApart) {
		return nil
	}
	n := note.New(note.SlowerCache, "kv", "the KV cache in %s makes a decode step %.0f %% slower than in bf16 (%s against %s): its attention kernel is priced by constants fitted on the measured GPUs of the generation (Hopper: H100 and H200), check it on %s",
		v.KV, 100*float64(narrow/plain-1), unit.FormatSeconds(narrow), unit.FormatSeconds(plain), v.Cluster.Device.Name)
	return note.List{n.With("share", float64(narrow/plain-1)).With("seconds", float64(narrow)).With("plain_seconds", float64(plain)).With("device", v.Cluster.Device.Name)}
}

// toldApart is the relative difference of steps below which fitted kernels are alike: their
// errors on held-out rows are several per cent.
const toldApart = 0.03

// bounds are limits that hold whatever the engine does.
func (a *InferAnswer) bounds(e *infer.Engine, v *deploy.Variant, batch int) {
	m, d := a.Request.Model, v.Cluster.Device
	if hbm := d.Peak.HBM; hbm.Known() {
		a.Streaming = infer.DecodeBound(infer.StreamedParams(m), v.Weights, unit.ByteRate(hbm.Value))
	}
	link := d.Peak.ScaleUp
	if int64(e.Setup().Plan.EP) > v.Cluster.Node.GPUs { // the ranks of one stage, whose tokens are exchanged
		link = v.Cluster.Node.NIC
	}
	a.Ceilings = e.Ceilings(batch, unit.ByteRate(link.Value))
}

// queueNote says what a load past the queue means, and where the queue begins.
func (a *InferAnswer) queueNote() note.Note {
	b := a.Best.Best
	n := note.New(note.QueueLimit, "limit", "out of %s: further requests in flight only wait longer; percentiles need a simulation", b.Steady.Limit)
	if b.Steady.Limit == infer.NoLimit {
		n = note.New(note.QueueRoom, "", "requests wait for room: their time to first token grows with every further one in flight")
	}
	if most := b.OwnLimit(); most > 0 && a.Request.Slots == 0 {
		n = n.With("sequences", most)
		n.Text += fmt.Sprintf("; the engine generates for %d sequences a replica at once, --max-sequences of an instance lets it take more", most)
	}
	if !a.Request.SLO.Any() && b.Full.Clients >= 1 {
		n = n.With("clients", b.Full.Clients)
		n.Text += fmt.Sprintf("; this load is past the queue, which takes over beyond %.0f in flight, as no --slo says how long a first token may take", b.Full.Clients)
	}
	return n
}

// atEdge tells whether more requests in flight than were looked at may be better: the
// best of several loads is the largest, and nothing in it waits for room.
func (a *InferAnswer) atEdge() bool {
	b, list := a.Best.Best, a.Request.Concurrency
	n := len(list)
	return n > 1 && b.Fits && a.Met() && !b.Queued && b.Concurrency == list[n-1] && 8*b.Concurrency <= deploy.MaxConcurrency
}
