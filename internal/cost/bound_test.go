package cost

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// A product below the ridge is bound by compute only where padding adds to it, one above
// it never by memory, whatever tiles it is cut into.
func TestBoundAgreesWithIntensity(t *testing.T) {
	m := mustNew(t, h800(8))
	for rows := int64(1); rows <= 1<<14; rows *= 4 {
		for _, shape := range [][2]int64{{576, 7168}, {7168, 2048}, {256, 7168}, {129280, 7168}, {16384, 16384}} {
			op := gemm(unit.BF16, rows, shape[0], shape[1])
			p, work := m.Op(&op), float64(op.FLOPs)/float64(op.Bytes)
			ridge := float64(m.MatrixRate(unit.BF16)) / float64(m.HBMRate())
			if p.Bound == Compute && !p.Padded && work < ridge/2 || p.Bound == HBM && work > ridge {
				t.Errorf("%d x %d x %d: %.0f FLOP/B beside a ridge of %.0f, bound by %s", rows, shape[0], shape[1], work, ridge, p.Bound)
			}
		}
	}
}

// The three times that compete, each made the largest in turn.
func TestBoundIsTheLargestTime(t *testing.T) {
	base := kernel{flops: 10, executed: 10, rate: 1, compute: 10, memory: 4}
	for _, x := range []struct {
		why    string
		edit   func(*kernel)
		bound  Resource
		padded bool
	}{
		{"multiplications fill the SMs", func(*kernel) {}, Compute, false},
		{"most of them on padding", func(k *kernel) { k.flops = 4 }, Compute, true},
		{"half of them on padding", func(k *kernel) { k.flops = 5 }, Compute, false},
		{"few SMs have a tile", func(k *kernel) { k.compute = 30 }, Latency, false},
		{"idle SMs take less than the multiplications", func(k *kernel) { k.compute = 19 }, Compute, false},
		{"idle SMs and the start take more", func(k *kernel) { k.compute, k.start = 19, 2 }, Latency, false},
		{"a long start", func(k *kernel) { k.start = 11 }, Latency, false},
		{"many bytes", func(k *kernel) { k.memory = 11 }, HBM, false},
		{"many bytes hide idle SMs", func(k *kernel) { k.memory, k.compute = 11, 14 }, HBM, false},
		{"passes before and behind", func(k *kernel) { k.passes = 11 }, HBM, false},
		{"no FLOPs at all", func(k *kernel) { k.flops, k.executed, k.compute = 0, 0, 0 }, HBM, false},
	} {
		k := base
		x.edit(&k)
		if bound, padded := k.bound(); bound != x.bound || padded != x.padded {
			t.Errorf("%s: %s, padded %t; want %s, %t", x.why, bound, padded, x.bound, x.padded)
		}
	}
}

// A decode core whose query rows are filled up from 8 to 136 waits for compute, while
// its own FLOPs would take less than its bytes; without the padding it does not.
func TestPaddedDecodeCoreIsCompute(t *testing.T) {
	m := mustNew(t, h800(8))
	const sequences, heads, keys, width = 132, 8, 4096, 576
	op := work.Op{Kind: work.Attention, Decode: true, Groups: sequences * heads, Sequences: sequences, KVHeads: 1, SeqQ: 1, SeqKV: keys, HeadDim: width,
		FLOPs: 4 * sequences * heads * keys * width, Bytes: sequences * keys * width * 2}
	for _, x := range []struct {
		pad    float64
		padded bool
	}{{0, false}, {128, true}} {
		d := usualDecode
		d.Pad = x.pad
		m.serving.decodeMLA[0] = d
		p := m.Op(&op)
		if p.Compute >= p.HBM {
			t.Fatalf("the core's own FLOPs take %v, its bytes %v", p.Compute, p.HBM)
		}
		if p.Padded != x.padded || (p.Bound == Compute) != x.padded {
			t.Errorf("%g rows of padding: bound by %s, padded %t", x.pad, p.Bound, p.Padded)
		}
	}
}

// Tiles execute at least what a product needs, and the SMs cannot do it faster than all
// of them together.
func TestTilesExecuteThePadding(t *testing.T) {
	m, r := tileRates(func(*gemmRates) {})
	for rows := 1.0; rows < 5000; rows *= 3 {
		seconds, executed := m.tiled(r, rows, 576, 4096, 1)
		if own := 2 * rows * 576 * 4096; executed < own || executed/(r.perSM*m.sms) > seconds {
			t.Errorf("%g rows: %g FLOPs of %g in %g s", rows, executed, own, seconds)
		}
		seconds, executed = m.spread(r, rows, min(rows, 32), 576, 4096)
		if own := 2 * rows * 576 * 4096; executed < own || executed/(r.perSM*m.sms) > seconds {
			t.Errorf("%g rows on experts: %g FLOPs of %g in %g s", rows, executed, own, seconds)
		}
	}
}
