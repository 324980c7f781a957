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
	Bound         Resource
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
	return m.price(0, 0, float64(op.Bytes), 0, over(float64(op.Bytes), m.hbm), 0, start)
}

// price joins a kernel's own compute and memory times (seconds, at the
// efficiency its shape allows) with the two ceilings of the device.
// overlap is the part of the smaller time that is not hidden.
func (m *Machine) price(flops, rate, bytes, compute, memory, overlap, launch float64) Price {
	c, h := over(flops, rate), over(bytes, max(m.hbm, m.floorRead))
	p := Price{Compute: unit.Seconds(c), HBM: unit.Seconds(h), Bound: Compute}
	busy := max(compute, memory)
	if memory > compute {
		p.Bound = HBM
	}
	// Small tiles wait for their loads, few fill no machine: such a kernel's own time is
	// above that of its bytes, which is above that of its work at the device's rate.
	if launch > busy || p.Bound == Compute && c < h {
		p.Bound = Latency
	}
	floor := max(c, h)
	est := max(floor, busy+overlap*min(compute, memory)+launch)
	p.Floor, p.Estimate, p.Start = unit.Seconds(floor), unit.Seconds(est), unit.Seconds(min(launch, est))
	p.Upper = unit.Seconds(max(est, (compute+memory)/m.pessimism+launch))
	return p
}

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
	return Price{p.Compute * k, p.HBM * k, p.Floor * k, p.Estimate * k, p.Upper * k, p.Start * k, p.Around * k, p.Bound}
}
