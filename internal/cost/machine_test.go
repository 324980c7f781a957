package cost

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

func fig(v float64) hw.Figure { return hw.Figure{Value: v, Grade: hw.Published, Source: "test"} }

// h800 has the achieved rates of fact T1: BF16 758 TFLOP/s, FP8 1.46 PFLOP/s,
// NVLink 160 GB/s, InfiniBand 50 GB/s (arXiv:2412.19437 section 3.2.2).
func h800(gpus int64) *hw.Cluster {
	d := &hw.Device{Name: "h800-sxm", Arch: "hopper", SMs: 132}
	d.Peak.Matrix[unit.BF16], d.Achieved.Matrix[unit.BF16] = fig(989e12), fig(758e12)
	d.Peak.Matrix[unit.FP8], d.Achieved.Matrix[unit.FP8] = fig(1979e12), fig(1460e12)
	d.Peak.HBM, d.Achieved.HBM = fig(3350e9), fig(3000e9)
	d.Peak.ScaleUp, d.Achieved.ScaleUp = fig(200e9), fig(160e9)
	d.Achieved.NIC = fig(50e9)
	node := hw.NodeSpec{GPUs: 8, ScaleUpKind: "nvlink", NIC: fig(50e9), NICKind: "infiniband", NICLatency: fig(3.7e-6)}
	d.DefaultNode = node
	return &hw.Cluster{Name: "h800", Device: d, GPUs: gpus, Node: node, Fabric: hw.Fabric{Oversubscription: 1, Rails: true}}
}

func mustNew(t testing.TB, c *hw.Cluster) *Machine {
	t.Helper()
	m, err := New(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if got < want*(1-tolerance) || got > want*(1+tolerance) {
		t.Errorf("%s = %.4g, want %.4g within %.2g", what, got, want, tolerance)
	}
}

// Fact T4: the all-gather of 671.03e9 bf16 parameters over 2,048 H800.
func TestFlatAndHierarchicalAllGather(t *testing.T) {
	m := mustNew(t, h800(2048))
	c := work.Comm{Kind: work.AllGather, Size: 2048, Stride: 1, Bytes: 2 * 671_030_000_000}
	for _, a := range m.Alternatives(&c) {
		switch a.Algorithm {
		case "flat ring":
			near(t, "flat ring network", float64(a.Network), 26.8, 0.005)
		case "hierarchical":
			near(t, "hierarchical network", float64(a.Network), 3.36, 0.01)
			near(t, "hierarchical scale-up", float64(a.ScaleUp), 7.34, 0.005)
		}
	}
	if got := m.Collective(&c); got.Link != ScaleUp || got.Algorithm != "hierarchical" {
		t.Errorf("chosen %s bound by %s, want hierarchical bound by nvlink", got.Algorithm, got.Link)
	}
}
