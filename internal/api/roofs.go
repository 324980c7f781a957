package api

import (
	"slices"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// roofs lists each format of products once, and the memory and the links that
// the cluster has.
func roofs(m *cost.Machine, c *hw.Cluster, formats ...unit.Format) (list []Roof) {
	peak := &c.Device.Peak
	slices.Sort(formats)
	for _, f := range slices.Compact(formats) {
		if rate := float64(m.MatrixRate(f)); rate > 0 {
			list = append(list, Roof{cost.Compute.String(), f, rate, peak.Matrix[f].Value})
		}
	}
	list = append(list, Roof{Resource: cost.HBM.String(), Achieved: float64(m.HBMRate()), Peak: peak.HBM.Value})
	if c.Node.GPUs > 1 {
		list = append(list, Roof{Resource: cost.ScaleUp.String(), Achieved: float64(m.ScaleUpRate()), Peak: peak.ScaleUp.Value})
	}
	if c.Nodes() > 1 {
		list = append(list, Roof{Resource: cost.Network.String(), Achieved: float64(m.NetworkRate()), Peak: c.Node.NIC.Value})
	}
	return list
}
