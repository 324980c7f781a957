package cost_test

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// cpu is a machine of 10 GB/s and 100 GFLOP/s with llama.cpp's rows of q8_0.
func cpu(t *testing.T, rates ...hw.RowRate) *cost.Machine {
	t.Helper()
	known := func(v float64) hw.Figure { return hw.Figure{Value: v, Grade: hw.Measured, Source: "test"} }
	d := &hw.Device{Name: "cpu", Arch: hw.CPUArch, Kernels: &hw.Kernels{Arch: hw.CPUArch, Vector: true, Engines: []hw.Engine{{Name: "llamacpp", Rows: rates}}}}
	for _, f := range []unit.Format{unit.FP32, unit.FP16, unit.BF16, unit.Q8_0} {
		d.Peak.Matrix[f], d.Achieved.Matrix[f] = known(100e9), known(100e9)
	}
	d.Peak.HBM, d.Achieved.HBM, d.Peak.Memory = known(10e9), known(10e9), known(16e9)
	m, err := cost.New(&hw.Cluster{Name: "cpu", Device: d, GPUs: 1, Node: hw.NodeSpec{GPUs: 1}, Fabric: hw.Fabric{Oversubscription: 1}}, cost.Options{Engine: "llamacpp"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func rows(n int64) *work.Op {
	const in, out = 1000, 2000
	return &work.Op{Kind: work.GEMM, Format: unit.Q8_0, M: n, N: out, K: in, Count: 1, FLOPs: unit.FLOPs(2 * n * in * out), Bytes: unit.Q8_0.Size(in * out)}
}

// By hand: 2,125,000 bytes at 10 GB/s are 212.5 us; 4 MFLOP a row at 100 GFLOP/s are
// 40 us; the times add up. The ceiling is the larger of the two.
func TestVectorProductsAddUp(t *testing.T) {
	m := cpu(t)
	for n, want := range map[int64]float64{1: 252.5e-6, 8: 532.5e-6} {
		p := m.Op(rows(n))
		if math.Abs(float64(p.Estimate)/want-1) > 1e-9 || p.Start != 0 {
			t.Errorf("%d rows take %g s, want %g", n, float64(p.Estimate), want)
		}
		if floor := max(212.5e-6, 40e-6*float64(n)); math.Abs(float64(p.Floor)/floor-1) > 1e-9 {
			t.Errorf("%d rows have the floor %g s, want %g", n, float64(p.Floor), floor)
		}
	}
}

// Measured numbers of rows are met, those between lie between, others keep the
// nearest rate; more rows never take less time here, and nothing beats the floor.
func TestRowRates(t *testing.T) {
	m := cpu(t, hw.RowRate{Format: unit.Q8_0, Rows: 8, Rate: 80e9}, hw.RowRate{Format: unit.Q8_0, Rows: 1, Rate: 20e9}, hw.RowRate{Format: unit.Q8_0, Rows: 4, Rate: 40e9})
	const read = 212.5e-6
	for n, want := range map[int64]float64{1: read + 200e-6, 4: read + 400e-6, 8: read + 400e-6, 80: read + 4000e-6} {
		if got := float64(m.Op(rows(n)).Estimate); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%d rows take %g s, want %g", n, got, want)
		}
	}
	last := unit.Seconds(0)
	for n := int64(1); n < 100; n++ {
		p := m.Op(rows(n))
		if p.Estimate < last || p.Estimate < p.Floor || p.Upper < p.Estimate {
			t.Errorf("%d rows: %+v after %g s", n, p, float64(last))
		}
		last = p.Estimate
	}
}
