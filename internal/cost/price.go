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
		return m.kernel(0, float64(op.Bytes), 1).times(n)
	case work.GEMM, work.Grouped:
		return m.product(op).times(n)
	}
	return Price{}
}

func (m *Machine) product(op *work.Op) Price {
	return m.kernel(over(float64(op.FLOPs), m.matrix[op.Format]), float64(op.Bytes), 1)
}

func (m *Machine) attention(op *work.Op) Price {
	rate := m.attFwd
	if op.Backward {
		rate = m.attBwd
	}
	return m.kernel(over(float64(op.FLOPs), rate), float64(op.Bytes), 1)
}

// kernel prices compute seconds at the achieved rate and bytes of HBM traffic;
// efficiency divides the compute time of the estimate.
func (m *Machine) kernel(compute, bytes, efficiency float64) Price {
	hbm := over(bytes, m.hbm)
	p := Price{Compute: unit.Seconds(compute), HBM: unit.Seconds(hbm), Bound: Compute}
	est := max(compute/efficiency, hbm) + launch
	if hbm > compute/efficiency {
		p.Bound = HBM
	}
	if launch > max(compute/efficiency, hbm) {
		p.Bound = Latency
	}
	p.Floor = unit.Seconds(max(compute, hbm))
	p.Estimate = unit.Seconds(est)
	p.Upper = unit.Seconds(compute/(efficiency*pessimism) + hbm/pessimism + launch)
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
