package cost

import (
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Sustained is the share of its isolated speed that a kernel holds over a whole
// training step, 0 to 1: clocks under the power limit, gaps between kernels and
// the wait for the slowest rank take the rest (hw.Sustained). Estimates of a step
// are divided by it; floors are not. 1 at the datasheet's peaks and where
// nothing is known.
func (m *Machine) Sustained() float64 {
	d := m.cluster.Device
	switch {
	case m.options.Sustained > 0:
		return m.options.Sustained
	case m.options.UsePeak || d.Kernels == nil:
		return 1
	}
	return d.Kernels.Sustained.Of(d.PerWatt(), d.Name, d.Siblings.Steady)
}

// SustainedMeasured tells whether runs of this device stand behind Sustained.
func (m *Machine) SustainedMeasured() bool {
	d := m.cluster.Device
	return d.Kernels != nil && d.Kernels.Sustained.Measured(d.Name)
}

// expertWait is fitted: the median over 25 published runs of mixture-of-experts
// models other than DeepSeek-V3 (dgxc, mbridge and simumax rows of
// training_runs.csv), quartiles 1.17 to 1.85 ms (TestStoredConstantsAreTheFit of package validate).
const expertWait unit.Seconds = 1.46e-3

// ExpertWait is how long a layer with routed experts keeps the device waiting in
// each direction: the number of tokens per expert has to reach the host before
// the grouped products can be launched, and the queue behind them runs dry.
func (m *Machine) ExpertWait() unit.Seconds {
	switch {
	case m.options.Graphs:
		return 0
	case m.options.ExpertWait > 0:
		return m.options.ExpertWait
	}
	return expertWait
}
