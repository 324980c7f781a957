package cost

import (
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Price is one operation's time on one GPU, all its launches together.
// Floor <= Estimate <= Upper. Compute and HBM are the two ceilings' times at
// achieved rates; Floor is their maximum.
type Price struct {
	Compute, HBM           unit.Seconds
	Floor, Estimate, Upper unit.Seconds
	// Of Estimate: Start depends on no amount of work (launch, prologue), Around is
	// what an engine does before a product to its operands (quantising). Kernels among
	// others hide part of both.
	Start, Around unit.Seconds
	// Pipes and Memory are what Bound compares: multiplications, those on padding among
	// them, and HBM traffic, each alone at the rate of the kernel that runs.
	Pipes, Memory unit.Seconds
	Bound         Resource
	// Padded marks a price bound by Compute of which the operation's own FLOPs are under half:
	// the rest multiplies rows that tiles and heads are filled up with.
	Padded bool
}

// Op prices one operation that is not a collective; a collective's price is
// zero here, see Collective.
func (m *Machine) Op(op *work.Op) Price {
	n := float64(max(op.Count, 1))
	switch op.Kind {
	case work.Attention:
		return m.attention(op).times(n)
	case work.Elementwise:
		return m.stream(op).times(n)
	case work.GEMM, work.Grouped:
		return m.product(op).times(n)
	}
	return Price{}
}

// stream prices a memory-bound pass.
func (m *Machine) stream(op *work.Op) Price {
	start := launch
	if m.vector { // a call of a function
		start = 0
	}
	return m.price(kernel{bytes: float64(op.Bytes), memory: over(float64(op.Bytes), m.hbm), start: start})
}

// kernel is what one run of an operation comes to, in the shape that its kernel gives it.
type kernel struct {
	flops, bytes    float64 // the operation's own
	ceiling         float64 // FLOP/s of the device for them
	executed        float64 // FLOPs with those on padding
	rate            float64 // FLOP/s of the kernel, all SMs busy with large tiles
	compute, memory float64 // seconds, at the efficiency that the shape allows
	overlap         float64 // part of the smaller of both that is not hidden
	passes          float64 // seconds of HBM traffic before and behind
	start           float64 // seconds that no amount of work changes
}

// price joins a kernel's own compute and memory times with the two ceilings of the device.
func (m *Machine) price(k kernel) Price {
	c, h := over(k.flops, k.ceiling), over(k.bytes, max(m.hbm, m.floorRead))
	p := Price{Compute: unit.Seconds(c), HBM: unit.Seconds(h)}
	p.Bound, p.Padded = k.bound()
	p.Pipes, p.Memory = unit.Seconds(k.pipes()), unit.Seconds(k.memory+k.passes)
	floor, outside := max(c, h), k.start+k.passes
	est := max(floor, max(k.compute, k.memory)+k.overlap*min(k.compute, k.memory)+outside)
	p.Floor, p.Estimate, p.Start = unit.Seconds(floor), unit.Seconds(est), unit.Seconds(min(outside, est))
	p.Upper = unit.Seconds(max(est, (k.compute+k.memory)/m.pessimism+outside))
	return p
}

// bound is the largest of three times:
//
//	compute = executed / rate                        padding among them
//	hbm     = memory + passes
//	latency = start + max(compute time, memory) - max(compute, memory)
//
// The last is what no rate explains: starts, SMs without a tile, tiles that wait for
// their loads, the pipeline's fill.
func (k *kernel) bound() (r Resource, padded bool) {
	pipes := k.pipes()
	latency := k.start + max(k.compute, k.memory) - max(pipes, k.memory)
	hbm := k.passes
	if k.memory >= pipes {
		hbm += k.memory
	}
	switch {
	case latency > max(pipes, hbm):
		return Latency, false
	case hbm > pipes:
		return HBM, false
	}
	return Compute, k.executed > 2*k.flops
}

// pipes is the time of all multiplications, those on padding among them.
func (k *kernel) pipes() float64 { return over(k.executed, k.rate) }

const (
	// launch is the time an empty kernel takes in a full stream: 1.8 us on A100, 1.3 us
	// on GH200 (openfabric-systems/simllm hardware envelopes).
	launch = 1.8e-6
	// pessimism is the share of the estimate's rate that the slow tenth of the
	// held-out kernel rows reaches (package calib's report: mean errors of 6 to 20 %).
	pessimism = 0.8
	// doubt is the same for a device whose kernels nobody measured: the worst of the
	// published best-GEMM ratios over their median, 0.51/0.755, see usualMatrix.
	doubt = 0.68
)

func (p Price) times(n float64) Price {
	k := unit.Seconds(n)
	return Price{p.Compute * k, p.HBM * k, p.Floor * k, p.Estimate * k, p.Upper * k, p.Start * k, p.Around * k, p.Pipes * k, p.Memory * k, p.Bound, p.Padded}
}
