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
	Bound                  Resource
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
	return m.price(0, 0, float64(op.Bytes), 0, over(float64(op.Bytes), m.hbm), 0, launch)
}

// price joins a kernel's own compute and memory times (seconds, at the
// efficiency its shape allows) with the two ceilings of the device.
// overlap is the part of the smaller time that is not hidden.
func (m *Machine) price(flops, rate, bytes, compute, memory, overlap, launch float64) Price {
	c, h := over(flops, rate), over(bytes, m.hbm)
	p := Price{Compute: unit.Seconds(c), HBM: unit.Seconds(h), Bound: Compute}
	busy := max(compute, memory)
	if memory > compute {
		p.Bound = HBM
	}
	if launch > busy {
		p.Bound = Latency
	}
	floor := max(c, h)
	est := max(floor, busy+overlap*min(compute, memory)+launch)
	p.Floor, p.Estimate = unit.Seconds(floor), unit.Seconds(est)
	p.Upper = unit.Seconds(max(est, (compute+memory)/pessimism+launch))
	return p
}

const (
	// launch is the time between two kernels of one stream.
	launch = 1.8e-6
	// pessimism is the share of the estimate's rate an untuned kernel reaches.
	pessimism = 0.8
)

func (p Price) times(n float64) Price {
	k := unit.Seconds(n)
	return Price{p.Compute * k, p.HBM * k, p.Floor * k, p.Estimate * k, p.Upper * k, p.Bound}
}
