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
	return cpuOf(t, &hw.Kernels{Arch: hw.CPUArch, Vector: true, Engines: []hw.Engine{{Name: "llamacpp", Rows: rates}}})
}

// cpuWith is the same with measured working sets.
func cpuWith(t *testing.T, streams ...hw.Stream) *cost.Machine {
	t.Helper()
	return cpuOf(t, &hw.Kernels{Arch: hw.CPUArch, Vector: true, Streams: streams})
}

func cpuOf(t *testing.T, k *hw.Kernels) *cost.Machine {
	t.Helper()
	known := func(v float64) hw.Figure { return hw.Figure{Value: v, Grade: hw.Measured, Source: "test"} }
	d := &hw.Device{Name: "cpu", Arch: hw.CPUArch, Kernels: k}
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

// By hand: a cache that reads q8_0 at 40 GB/s up to 50 MB and memory at 8 GB/s from 200
// MB; half way in the logarithm the time of a byte is the mean. Two rows stream at the
// machine's rate whatever the set, and experts of 1.5 rows lie half way.
func TestWorkingSetsInCaches(t *testing.T) {
	m := cpu(t)
	if m.Reading(1<<20) != m {
		t.Error("a machine whose caches nobody measured changes with the working set")
	}
	bytes := float64(rows(1).Bytes)
	cached := cpuWith(t, hw.Stream{Format: unit.Q8_0, Bytes: 50e6, Rate: 40e9}, hw.Stream{Format: unit.Q8_0, Bytes: 200e6, Rate: 8e9}, hw.Stream{Format: unit.FP16, Bytes: 1e6, Rate: 1e12})
	for set, rate := range map[unit.Bytes]float64{1e6: 40e9, 50e6: 40e9, 100e6: 2 / (1/40e9 + 1/8e9), 200e6: 8e9, 900e6: 8e9} {
		at := cached.Reading(set)
		one, two := float64(at.Op(rows(1)).Estimate), float64(at.Op(rows(2)).Estimate)
		if want := 40e-6 + bytes/rate; math.Abs(one/want-1) > 1e-9 {
			t.Errorf("one row of %d bytes takes %g s, want %g", set, one, want)
		}
		if want := float64(m.Op(rows(2)).Estimate); math.Abs(two/want-1) > 1e-9 {
			t.Errorf("two rows of %d bytes take %g s, want %g", set, two, want)
		}
		half := rows(1)
		half.Kind, half.Groups, half.Touched, half.Rows, half.FLOPs = work.Grouped, 1, 1, 1.5, half.FLOPs*3/2
		if got, want := float64(at.Op(half).Estimate), 60e-6+(bytes/rate+bytes/10e9)/2; math.Abs(got/want-1) > 1e-9 {
			t.Errorf("1.5 rows of %d bytes take %g s, want %g", set, got, want)
		}
		for n := int64(1); n < 5; n++ {
			if p := at.Op(rows(n)); p.Estimate < p.Floor {
				t.Errorf("%d rows of %d bytes beat their floor: %+v", n, set, p)
			}
		}
	}
	// What others disturbed: a larger set that was read faster stands for the smaller.
	dip := cpuWith(t, hw.Stream{Format: unit.Q8_0, Bytes: 10e6, Rate: 5e9}, hw.Stream{Format: unit.Q8_0, Bytes: 50e6, Rate: 40e9})
	if a, b := dip.Reading(10e6).Op(rows(1)).Estimate, dip.Reading(50e6).Op(rows(1)).Estimate; a != b {
		t.Errorf("a smaller set takes %g s, a larger one %g", float64(a), float64(b))
	}
}

// By hand, q4_0 with blocks of four: one row takes 100 us beyond reading the weights, two
// 180, four 120 and eight 220. Rows outside of blocks take 80 each, so that three take more
// than four and seven more than eight; rows of experts never form blocks.
func TestBlocksOfRows(t *testing.T) {
	const read = 212.5e-6
	rate := func(n int64, us float64) hw.RowRate {
		return hw.RowRate{Format: unit.Q8_0, Rows: n, Rate: 4e6 * float64(n) / (us * 1e-6)}
	}
	engine := hw.Engine{Name: "llamacpp", Rows: []hw.RowRate{rate(1, 100), rate(2, 180), rate(4, 120), rate(8, 220), rate(64, 2600)}, Blocks: []hw.RowBlock{{Format: unit.Q8_0, Rows: 4}}}
	of := func(e hw.Engine) *cost.Machine {
		return cpuOf(t, &hw.Kernels{Arch: hw.CPUArch, Vector: true, Engines: []hw.Engine{e}})
	}
	m := of(engine)
	for n, us := range map[int64]float64{1: 100, 2: 180, 3: 260, 4: 120, 5: 200, 6: 280, 7: 360, 8: 220, 11: 460, 64: 2600, 66: 2760, 128: 5200} {
		if got := float64(m.Op(rows(n)).Estimate); math.Abs(got/(read+us*1e-6)-1) > 1e-9 {
			t.Errorf("%d rows take %g s, want %g", n, got, read+us*1e-6)
		}
	}
	for mean, us := range map[float64]float64{1: 100, 1.5: 140, 3: 260, 4: 340, 64: 5140} {
		op := rows(1)
		op.Kind, op.Groups, op.Touched, op.Rows, op.FLOPs = work.Grouped, 1, 1, mean, op.FLOPs*unit.FLOPs(mean)
		if got := float64(m.Op(op).Estimate); math.Abs(got/(read+us*1e-6)-1) > 1e-9 {
			t.Errorf("%g rows of an expert take %g s, want %g", mean, got, read+us*1e-6)
		}
	}
	// What was measured is met; where no block was, the curve stands.
	engine.Rows = append(engine.Rows, rate(3, 300))
	if got := float64(of(engine).Op(rows(3)).Estimate); math.Abs(got/(read+300e-6)-1) > 1e-9 {
		t.Errorf("three measured rows take %g s, want %g", got, read+300e-6)
	}
	engine.Rows = engine.Rows[:2]
	if got := float64(of(engine).Op(rows(9)).Estimate); math.Abs(got/(read+810e-6)-1) > 1e-9 {
		t.Errorf("nine rows without a measured block take %g s, want %g", got, read+810e-6)
	}
}

// By hand: 2,000 outputs of a row that end in 10 ns each take 20 us; of products of one row the
// probe's streams hold an end for each of their 1,024 columns, so that 24 of 1,024 remain, and
// rows as long as theirs add nothing. A matrix of half as many columns has twice as many ends.
func TestRowsHaveEnds(t *testing.T) {
	ends := hw.RowEnd{Format: unit.Q8_0, Time: 10e-9}
	for _, c := range []struct {
		streams []hw.Stream
		n, k    int64
		want    float64
	}{
		{nil, 1, 1000, 20e-6}, {nil, 2, 1000, 40e-6}, {nil, 2, 500, 80e-6},
		{[]hw.Stream{{Format: unit.Q8_0, Bytes: 1e6, Rate: 10e9}}, 1, 1000, 20e-6 * 24 / 1024},
		{[]hw.Stream{{Format: unit.Q8_0, Bytes: 1e6, Rate: 10e9}}, 1, 2000, 0},
		{[]hw.Stream{{Format: unit.Q8_0, Bytes: 1e6, Rate: 10e9}}, 2, 1000, 40e-6},
	} {
		with := cpuOf(t, &hw.Kernels{Arch: hw.CPUArch, Vector: true, Streams: c.streams, RowEnds: []hw.RowEnd{ends}}).Reading(1e6)
		without := cpuOf(t, &hw.Kernels{Arch: hw.CPUArch, Vector: true, Streams: c.streams}).Reading(1e6)
		op := rows(c.n)
		op.N, op.K = op.N*op.K/c.k, c.k
		if got := float64(with.Op(op).Estimate - without.Op(op).Estimate); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d rows of %d columns: %g s, want %g", c.n, c.k, got, c.want)
		}
	}
}
