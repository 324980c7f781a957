package cost

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

func gemm(f unit.Format, m, n, k int64) work.Op {
	return work.Op{Kind: work.GEMM, Format: f, M: m, N: n, K: k, Groups: 1, Count: 1,
		FLOPs: 2 * unit.FLOPs(m) * unit.FLOPs(n) * unit.FLOPs(k), Bytes: f.Size(m*k) + f.Size(n*k) + unit.BF16.Size(m*n)}
}

// core is causal attention of one sequence of s tokens.
func core(d, s, heads int64, backward bool) work.Op {
	op := work.Op{Kind: work.Attention, HeadDim: d, SeqQ: s, Groups: heads, Count: 1, Backward: backward,
		FLOPs: 4 * unit.FLOPs(d*heads) * unit.FLOPs(s) * unit.FLOPs(s+1) / 2, Bytes: unit.BF16.Size(4 * s * heads * d)}
	if backward {
		op.FLOPs *= 2.5
	}
	return op
}

func TestLargeProductsComeNearTheAchievedRate(t *testing.T) {
	m := mustNew(t, h800(8))
	op := gemm(unit.BF16, 16384, 8192, 8192)
	p := m.Op(&op)
	if p.Bound != Compute {
		t.Errorf("bound by %s, want compute", p.Bound)
	}
	near(t, "floor", float64(p.Floor), float64(op.FLOPs)/758e12, 1e-9)
	if share := float64(p.Floor / p.Estimate); share < 0.85 || share > 1 {
		t.Errorf("a product of 16384 x 8192 x 8192 reaches %.2f of the achieved rate, want 0.85 to 1", share)
	}
}

func TestFewTokensAreBoundByTheWeightsWay(t *testing.T) {
	m := mustNew(t, h800(8))
	op := gemm(unit.BF16, 1, 7168, 16384)
	if p := m.Op(&op); p.Bound != HBM {
		t.Errorf("bound by %s, want hbm", p.Bound)
	}
	op = gemm(unit.BF16, 1, 64, 64)
	if p := m.Op(&op); p.Bound != Latency {
		t.Errorf("bound by %s, want latency", p.Bound)
	}
}

// One tile more than a wave costs part of another wave.
func TestWaveQuantisation(t *testing.T) {
	c := h800(8)
	c.Device.Kernels.GEMM[unit.BF16].Quant = 1
	m := mustNew(t, c)
	r := &m.gemm[unit.BF16]
	full, over := tiledSeconds(m, r, 256, 128*132, 4096), tiledSeconds(m, r, 256, 128*132+1, 4096)
	if over <= full || over > 2*full {
		t.Errorf("132 tiles take %g, 133 take %g: want more, at most twice", full, over)
	}
}

func TestManyGroupsFillTheMachineTogether(t *testing.T) {
	m := mustNew(t, h800(8))
	one := gemm(unit.FP8, 64, 4096, 7168)
	many := one
	many.Kind, many.Groups = work.Grouped, 32
	many.FLOPs *= 32
	many.Bytes *= 32
	a, b := m.Op(&one), m.Op(&many)
	checkPrice(t, b)
	if b.Estimate <= a.Estimate || b.Estimate > 40*a.Estimate {
		t.Errorf("32 groups take %v, one takes %v", b.Estimate, a.Estimate)
	}
}

func TestCountIsLaunches(t *testing.T) {
	m := mustNew(t, h800(8))
	op := gemm(unit.BF16, 4096, 4096, 4096)
	one := m.Op(&op)
	op.Count = 3
	if three := m.Op(&op); three.Estimate != 3*one.Estimate || three.Compute != 3*one.Compute || three.Bound != one.Bound {
		t.Errorf("three launches %+v, one %+v", three, one)
	}
}

func TestAttentionNearsItsRateWithTheSequence(t *testing.T) {
	m := mustNew(t, h800(8))
	last := 0.0
	for s := int64(512); s <= 65536; s *= 2 {
		op := core(128, s, 64, false)
		p := m.Op(&op)
		checkPrice(t, p)
		rate := float64(op.FLOPs) / float64(p.Estimate)
		if rate <= last {
			t.Errorf("%d tokens: %.0f TFLOP/s, not above %.0f", s, rate/1e12, last/1e12)
		}
		last = rate
		bwd := core(128, s, 64, true)
		if q := m.Op(&bwd); s >= 4096 && q.Estimate <= 2*p.Estimate {
			t.Errorf("%d tokens: backward %v is not above twice forward %v", s, q.Estimate, p.Estimate)
		}
	}
}

func TestAFormatThatTheDeviceLacks(t *testing.T) {
	m := mustNew(t, h800(8))
	if err := m.Supports(unit.NVFP4); err == nil {
		t.Error("NVFP4 on Hopper: want an error")
	}
	for _, f := range []unit.Format{unit.BF16, unit.FP16, unit.FP8, unit.FP8Block} {
		if err := m.Supports(f); err != nil {
			t.Error(err)
		}
	}
	op := gemm(unit.NVFP4, 128, 128, 128)
	if p := m.Op(&op); !math.IsInf(float64(p.Estimate), 1) {
		t.Errorf("NVFP4 on Hopper takes %v, want +Inf", p.Estimate)
	}
}

func TestMissingFiguresAreNamed(t *testing.T) {
	c := h800(2048)
	c.Device.Achieved.HBM, c.Device.Peak.HBM = c.Device.Achieved.NIC, c.Device.Peak.TDP
	c.Device.Achieved.HBM.Grade = 0
	if _, err := New(c, Options{}); err == nil {
		t.Error("no HBM rate: want an error")
	}
	c = h800(2048)
	c.Device.Achieved.ScaleUp.Grade = 0
	m := mustNew(t, c)
	near(t, "assumed NVLink", float64(m.ScaleUpRate()), 160e9, 1e-9)
	if len(m.Assumptions()) == 0 {
		t.Error("an assumed rate is not listed")
	}
}

func TestPeakPricesAtTheDatasheet(t *testing.T) {
	m, err := New(h800(2048), Options{UsePeak: true})
	if err != nil {
		t.Fatal(err)
	}
	if m.MatrixRate(unit.BF16) != 989e12 || m.HBMRate() != 3350e9 || m.ScaleUpRate() != 200e9 || m.NetworkRate() != 50e9 {
		t.Errorf("rates %v %v %v %v are not the datasheet's", m.MatrixRate(unit.BF16), m.HBMRate(), m.ScaleUpRate(), m.NetworkRate())
	}
}

// FuzzPrices looks for times that are negative, undefined or out of order.
func FuzzPrices(f *testing.F) {
	f.Add(int64(4096), int64(7168), int64(2048), int64(8), uint8(0), uint8(2), int64(64), int64(1), int64(1<<20))
	f.Add(int64(1), int64(1), int64(1), int64(1), uint8(2), uint8(6), int64(3), int64(5), int64(0))
	f.Add(int64(0), int64(0), int64(0), int64(0), uint8(1), uint8(4), int64(2048), int64(16), int64(1<<40))
	c := h800(2048)
	c.Device.Achieved.ScaleUpReduce = fig(200e9)
	c.Fabric.Oversubscription, c.Fabric.Rails = 3, false
	m := mustNew(f, c)
	f.Fuzz(func(t *testing.T, rows, cols, k, groups int64, kind, pattern uint8, size, stride, b int64) {
		const most = 1 << 20
		abs := func(v, top int64) int64 { return max(v%top, -(v % top)) }
		op := gemm(unit.BF16, abs(rows, most), abs(cols, most), abs(k, most))
		op.Kind, op.Groups = work.Kind(kind%4), abs(groups, 1024)
		op.HeadDim, op.SeqQ, op.Backward = abs(cols, 513), abs(rows, most), kind&8 != 0
		checkPrice(t, m.Op(&op))
		r := comm(kinds[int(pattern)%len(kinds)], abs(size, 1<<16), abs(stride, 1<<16), unit.Bytes(abs(b, 1<<50)))
		r.TopK, r.TopGroups, r.Groups, r.Experts = abs(k, 300), abs(cols, 20), abs(rows, 20), abs(groups, 4096)
		checkTransfer(t, m.Collective(r))
		for _, a := range m.Alternatives(r) {
			checkTransfer(t, a)
		}
	})
}

func BenchmarkOp(b *testing.B) {
	m := mustNew(b, h800(2048))
	ops := []work.Op{gemm(unit.BF16, 4096, 7168, 2048), core(128, 4096, 64, false), gemm(unit.FP8, 4096, 24576, 1536)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Op(&ops[i%len(ops)])
	}
}

func BenchmarkCollective(b *testing.B) {
	m := mustNew(b, h800(2048))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Collective(comm(kinds[i%len(kinds)], 64, 1, 1<<28))
	}
}
