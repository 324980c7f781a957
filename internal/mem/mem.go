// Package mem adds up what one rank keeps in device memory at its worst moment:
// states by their own divisors, activations in flight, temporaries and fixed
// overheads, each a named line. Exact bytes from shapes; the only assumptions
// are the fixed overheads, named below.
package mem

import (
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Part is one line of the memory table.
type Part uint8

// The parts, in the order reports print them.
const (
	Weights Part = iota
	Gradients
	Optimizer
	Activations
	Working  // logits, recomputed layer, gradients of the widest operation
	Gathered // ZeRO-3 units: the current and the prefetched one
	Buffers  // communication
	Context  // CUDA context, kernels, allocator slack
	NumParts
)

var partNames = [NumParts]string{"weights", "gradients", "optimizer", "activations", "working", "gathered", "buffers", "context"}

// String is the part's name in reports and JSON.
func (p Part) String() string { return partNames[p] }

// Parts is the table itself, in bytes per GPU.
type Parts [NumParts]unit.Bytes

// Total is the sum of all parts.
func (p *Parts) Total() unit.Bytes {
	var n unit.Bytes
	for _, b := range p {
		n += b
	}
	return n
}

// Fixed overheads per device. Neither depends on the plan's shapes; both are
// assumptions that `calibrate` may replace, and reports show them as lines.
const (
	// ContextBytes: CUDA context, loaded kernels, cuBLAS workspaces and allocator slack.
	ContextBytes unit.Bytes = 1 << 30
	// BufferBytes: NCCL channels of the communicators of one parallel axis.
	BufferBytes unit.Bytes = 256 << 20
)

// Rank is what one rank of the pipeline holds.
type Rank struct {
	Params work.Params
	// Ends are parameters outside the layers (embedding, head), kept at the head's format.
	Ends    work.Params
	Saved   unit.Bytes // activations in flight, all micro-batches together
	Working unit.Bytes
	Unit    work.Params // the largest ZeRO-3 unit: a layer, the embedding or the head
	Next    work.Params // the largest layer, which may be prefetched beside it
	Axes    int         // parallel axes larger than one
}

// Of is the table of one rank under plan p.
func Of(p *plan.Plan, r *Rank) Parts {
	var t Parts
	pr := &p.Precision
	dense, expert := float64(p.Shards()), float64(p.ExpertShards())
	wd, we, gd, ge, od, oe := 1.0, 1.0, 1.0, 1.0, 1.0, 1.0
	if p.ZeRO >= 1 {
		od, oe = dense, expert
	}
	if p.ZeRO >= 2 {
		gd, ge = dense, expert
	}
	if p.ZeRO >= 3 {
		wd, we = dense, expert
	}
	base, trained := weightBytes(p)
	ends := max(pr.Weights.BytesPer(), pr.Head.BytesPer())
	t[Weights] = share(r.Params.Dense-r.Params.TrainedDense, r.Params.Expert-r.Params.TrainedExpert, base, wd, we) +
		share(r.Params.TrainedDense, r.Params.TrainedExpert, trained, wd, we) + share(r.Ends.Dense, 0, ends, wd, 1)
	grad := pr.Gradients.BytesPer()
	if pr.Produced != unit.FP32 {
		grad += pr.Produced.BytesPer()
	}
	t[Gradients] = share(r.Params.TrainedDense+r.Ends.TrainedDense, r.Params.TrainedExpert, grad, gd, ge)
	if !p.OffloadOptim {
		state := pr.Master.BytesPer() + 2*pr.Moment.BytesPer()
		t[Optimizer] = share(r.Params.TrainedDense+r.Ends.TrainedDense, r.Params.TrainedExpert, state, od, oe)
	}
	t[Activations] = r.Saved
	t[Working] = r.Working
	if p.ZeRO >= 3 {
		gather := pr.Gather.BytesPer()
		if p.Tuning == plan.QLoRA {
			gather = base
		}
		t[Gathered] = share(r.Unit.Dense+r.Next.Dense, r.Unit.Expert+r.Next.Expert, gather, unsharded(dense), unsharded(expert))
	}
	if p.ZeRO >= 2 {
		t[Gathered] += share(r.Unit.TrainedDense, r.Unit.TrainedExpert, pr.GradReduce.BytesPer(), unsharded(dense), unsharded(expert))
	}
	t[Buffers] = unit.Bytes(r.Axes) * BufferBytes
	t[Context] = ContextBytes
	return t
}

// unsharded is a divisor that removes parameters whose only replica is this
// rank's: nothing is gathered for them.
func unsharded(ranks float64) float64 {
	if ranks == 1 {
		return infinite
	}
	return 1
}

const infinite = 1e300

// weightBytes is the resident bytes per frozen and per trained parameter of the
// layers: the working copy and, for Transformer Engine's recipes, the GEMM-format
// copy; a QLoRA base is 4-bit, its adapters are not.
func weightBytes(p *plan.Plan) (base, trained float64) {
	n := p.Precision.Weights.BytesPer()
	if p.Tuning == plan.QLoRA {
		return plan.QLoRAFormat.BytesPer(), n
	}
	if p.Precision.Copies {
		n += p.Precision.GEMM.BytesPer()
	}
	return n, n
}

func share(dense, expert int64, each, denseRanks, expertRanks float64) unit.Bytes {
	return unit.Bytes(float64(dense)*each/denseRanks + float64(expert)*each/expertRanks)
}
