package cost_test

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// A generation's stated rate of one SM is that of the devices its kernels were fitted on.
func TestSMPeakIsTheMeasuredDevices(t *testing.T) {
	for _, arch := range []string{"ampere", "hopper", "blackwell"} {
		k := catalog.Kernels(arch)
		for _, name := range k.Devices {
			d, err := catalog.Device(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Peak.Matrix[unit.BF16].Value / float64(d.SMs); math.Abs(got/k.SMPeak-1) > 1e-3 {
				t.Errorf("%s: one SM of %s does %.4g FLOP/s, %.4g is stored", arch, name, got, k.SMPeak)
			}
		}
	}
}

// A product of one row waits for its weights, on an H20 as on an H100: its few rows must not
// be charged as the 64 of a wide tile on a GPU with a quarter of the matrix pipes.
func TestOneRowWaitsForItsWeights(t *testing.T) {
	op := &work.Op{Kind: work.GEMM, Format: unit.BF16, M: 1, N: 28672, K: 4096, Groups: 1, FLOPs: 2 * 28672 * 4096, Bytes: 2 * 28672 * 4096}
	for _, cluster := range []string{"h100x1", "h20x1"} {
		c, err := catalog.Cluster(cluster)
		if err != nil {
			t.Fatal(err)
		}
		m, err := cost.New(c, cost.Options{Engine: "vllm"})
		if err != nil {
			t.Fatal(err)
		}
		p := m.Op(op)
		if read := float64(op.Bytes) / c.Device.Peak.HBM.Value; float64(p.Estimate) < read || float64(p.Estimate) > 1.45*read {
			t.Errorf("%s: %.1f us, its weights alone take %.1f us at peak", cluster, 1e6*float64(p.Estimate), 1e6*read)
		}
	}
}
