package cost

import (
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// dispatchSMs of an H800's 132 run the expert exchange's kernels: ten channels of
// two SMs (arXiv:2412.19437 section 3.2.2; DeepEP's normal kernels).
const (
	dispatchSMs = 20
	h800SMs     = 132
)

// CommSMShare is the share of the SMs that a collective's kernels take from
// compute that runs beside them. Only the expert exchange is published; NCCL's
// rings are assumed to take as many while they run.
func (m *Machine) CommSMShare() float64 {
	if m.sms > 1 {
		return min(dispatchSMs/m.sms, 1)
	}
	return float64(dispatchSMs) / h800SMs
}

// clocks is how far apart the rates of two SMs of one design lie by their clocks, which
// move their loads as well.
const clocks = 1.25

// pipes is what one SM of the device multiplies, of what those multiply on which its
// generation's kernels were fitted: an H20's has a quarter of an H100's matrix pipes and
// the same caches and shared memory. A tile's loads take as long on both.
func pipes(d *hw.Device, k *hw.Kernels) float64 {
	peak := d.Peak.Matrix[unit.BF16].Value
	if k.SMPeak <= 0 || d.SMs <= 0 || peak <= 0 || slices.Contains(k.Devices, d.Name) {
		return 1
	}
	if r := peak / float64(d.SMs) / k.SMPeak; r < 1/clocks || r > clocks {
		return r
	}
	return 1
}
