package cost

import "github.com/ridgeline/ridgeline/internal/unit"

// Sustained is the share of its isolated speed that a kernel holds over a whole
// training step, 0 to 1: clocks under the power limit, gaps between kernels and
// the wait for the slowest rank take the rest (hw.Sustained). Estimates of a step
// are divided by it; floors are not. 1 at the datasheet's peaks and where
// nothing is known.
func (m *Machine) Sustained() float64 {
	k := m.cluster.Device.Kernels
	switch {
	case m.options.Sustained > 0:
		return m.options.Sustained
	case m.options.UsePeak || k == nil || k.Sustained.Share == 0:
		return 1
	}
	return k.Sustained.Share
}

// HostDispatch is the time that the host takes for each operation of a step; 0 =
// the host runs ahead of the device.
func (m *Machine) HostDispatch() unit.Seconds { return m.options.HostDispatch }
