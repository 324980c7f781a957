package cost

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

func fig(v float64) hw.Figure { return hw.Figure{Value: v, Grade: hw.Published, Source: "test"} }

// h800 has the achieved rates of the published machine: BF16 758 TFLOP/s, FP8
// 1.46 PFLOP/s (The Smol Training Playbook, same compute), NVLink 160 GB/s and
// InfiniBand 50 GB/s (arXiv:2412.19437 section 3.2.2). Its kernel constants are
// round numbers near Hopper's.
func h800(gpus int64) *hw.Cluster {
	d := &hw.Device{Name: "h800-sxm", Arch: "hopper", SMs: 132}
	d.Peak.Matrix[unit.BF16], d.Achieved.Matrix[unit.BF16] = fig(989e12), fig(758e12)
	d.Peak.Matrix[unit.FP8], d.Achieved.Matrix[unit.FP8] = fig(1979e12), fig(1460e12)
	d.Peak.HBM, d.Achieved.HBM = fig(3350e9), fig(3000e9)
	d.Peak.ScaleUp, d.Achieved.ScaleUp = fig(200e9), fig(160e9)
	d.Achieved.NIC = fig(50e9)
	k := &hw.Kernels{Arch: "hopper", Devices: []string{"h100-sxm"}}
	k.GEMM[unit.BF16] = hw.GEMM{Share: 0.86, Fill: 160, Edge: 10, Quant: 0.2, Overlap: 0.2, Memory: 0.85, Launch: 3e-6, Grouped: 0.9}
	k.GEMM[unit.FP8] = hw.GEMM{Share: 0.78, Fill: 200, Edge: 20, Quant: 0.2, Overlap: 0.3, Memory: 0.86, Launch: 5e-6, Grouped: 0.8}
	k.Attention = hw.Attention{Share: [hw.NumHeadDims]float64{0.52, 0.72, 0.8}, Fill: 140, Tail: 0.3, Stream: 1, Launch: 1e-5}
	k.MLA = hw.Attention{Share: [hw.NumHeadDims]float64{0.69, 0.69, 0.69}, Fill: 340, Tail: 0.6, Launch: 1e-5}
	k.Links = hw.Links{Start: 5e-6, Hop: 0.8e-6, Pair: 7e-6, Chunk: 2e-6, Own: 0.3, Switch: 4e-5}
	d.Kernels = k
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
	if !(got >= want*(1-tolerance) && got <= want*(1+tolerance)) {
		t.Errorf("%s = %.4g, want %.4g within %.2g", what, got, want, tolerance)
	}
}

// Nodes of one GPU have no scale-up link: every collective crosses the network, in finite time.
func TestNodesOfOneGPU(t *testing.T) {
	c := h800(16)
	c.Node.GPUs = 1
	for _, rails := range []bool{false, true} {
		c.Fabric.Rails = rails
		for _, o := range []Options{{}, {UsePeak: true}, {Engine: "sglang"}} {
			m, err := New(c, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range kinds {
				for _, x := range []*work.Comm{comm(k, 2, 1, 1<<20), comm(k, 16, 1, 1<<30), {Kind: k, Size: 8, Stride: 2, Bytes: 1 << 14, OneShot: true, Eager: true, LowLatency: true, TopK: 8, Experts: 256}} {
					p := m.Collective(x)
					checkTransfer(t, p)
					if p.ScaleUpBytes != 0 || p.Network <= 0 || math.IsInf(float64(p.Upper), 0) {
						t.Errorf("kind %d of %d, %+v: %+v", k, x.Size, o, p)
					}
				}
			}
		}
	}
}
