package cost_test

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

var engines = []string{"vllm", "sglang", "trtllm", "unheard-of"}

func machine(t testing.TB, cluster, engine string) *cost.Machine {
	t.Helper()
	c, err := catalog.Cluster(cluster)
	if err != nil {
		t.Fatal(err)
	}
	m, err := cost.New(c, cost.Options{Engine: engine})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// decodeOp is a step of seqs sequences with keys tokens each: 8 query heads per key
// head of 128, 16-bit or 8-bit cache.
func decodeOp(seqs, kvHeads, keys int64, kv unit.Format) work.Op {
	heads := 8 * kvHeads
	return work.Op{
		Kind: work.Attention, Format: unit.BF16, KV: kv, Decode: true, HeadDim: 128, SeqQ: 1, Groups: seqs * heads, Count: 1,
		Sequences: seqs, KVHeads: kvHeads, SeqKV: float64(keys), FLOPs: unit.FLOPs(4 * 128 * seqs * heads * keys),
		Bytes: kv.Size(seqs*keys*kvHeads*256) + unit.BF16.Size(seqs*heads*256),
	}
}

func expertsOp(f unit.Format, rows, touched float64, n, k int64) work.Op {
	return work.Op{
		Kind: work.Grouped, Format: f, M: 1, N: n, K: k, Groups: int64(touched), Rows: rows, Touched: touched, Count: 1,
		FLOPs: unit.FLOPs(2 * rows * float64(n*k)), Bytes: unit.Bytes(touched*float64(n*k)*f.BytesPer() + 2*rows*float64(n+k)),
	}
}

// Floor <= estimate <= upper, and more work never takes less time.
func TestServingPricesAreOrderedAndGrow(t *testing.T) {
	for _, cluster := range []string{"a100x8", "h100x8", "h20x8", "h200x16", "b200x8", "gb200x8", "mi300xx8"} {
		for _, e := range engines {
			m := machine(t, cluster, e)
			for _, kv := range []unit.Format{unit.BF16, unit.FP8} {
				last := 0.0
				for keys := int64(1); keys < 1<<18; keys *= 2 {
					op := decodeOp(32, 2, keys, kv)
					last = grows(t, cluster+" "+e+" decode", m.Op(&op), last)
				}
			}
			last := 0.0
			for rows := 1.0; rows < 1<<16; rows *= 2 {
				op := expertsOp(unit.BF16, rows, min(rows, 32), 4096, 7168)
				last = grows(t, cluster+" "+e+" experts", m.Op(&op), last)
			}
			for _, low := range []bool{true, false} {
				last = 0
				for tokens := int64(1); tokens < 1<<15; tokens *= 2 {
					p := m.Collective(&work.Comm{Kind: work.Dispatch, Size: 8, Stride: 1, Bytes: unit.Bytes(tokens * 7168), TopK: 8, Experts: 256, LowLatency: low})
					last = grows(t, cluster+" "+e+" dispatch", cost.Price{Floor: p.Floor, Estimate: p.Estimate, Upper: p.Upper}, last)
				}
			}
		}
	}
}

// grows checks one price against the one of less work.
func grows(t *testing.T, what string, p cost.Price, last float64) float64 {
	t.Helper()
	est := float64(p.Estimate)
	if !(p.Floor >= 0 && p.Floor <= p.Estimate && p.Estimate <= p.Upper) || math.IsInf(est, 0) || math.IsNaN(est) {
		t.Fatalf("%s: %+v out of order", what, p)
	}
	if est < last*0.999 {
		t.Fatalf("%s: %g s, less work took %g", what, est, last)
	}
	return est
}

// An 8-bit cache is read in no more time than a 16-bit one once the cache is large.
func TestSmallerCacheIsNotSlower(t *testing.T) {
	for _, cluster := range []string{"h100x8", "b200x8"} {
		for _, e := range engines {
			m := machine(t, cluster, e)
			wide, narrow := decodeOp(64, 8, 16384, unit.BF16), decodeOp(64, 8, 16384, unit.FP8)
			if a, b := m.Op(&wide).Estimate, m.Op(&narrow).Estimate; b > a {
				t.Errorf("%s %s: 8-bit cache %v, 16-bit %v", cluster, e, b, a)
			}
		}
	}
}

// One-shot all-reduce of 8 x H200 in a CUDA graph: 4.7 us at 2 KB, 9.9 at 256 KB,
// 18 at 2 MB; NCCL 16, 21 (128 KB) and 37 us. The published runs are one machine's
// and the fitted constants another's: 40 %.
func TestSmallAllReduceOnH200(t *testing.T) {
	m := machine(t, "h200x8", "sglang")
	for _, x := range []struct {
		bytes   unit.Bytes
		oneShot bool
		us      float64
	}{{2 << 10, true, 4.7}, {256 << 10, true, 9.9}, {2 << 20, true, 18}, {2 << 10, false, 16}, {128 << 10, false, 21}, {2 << 20, false, 37}} {
		p := m.Collective(&work.Comm{Kind: work.AllReduce, Size: 8, Stride: 1, Bytes: x.bytes, OneShot: x.oneShot})
		if r := float64(p.Estimate) * 1e6 / x.us; r < 0.6 || r > 1.4 {
			t.Errorf("%d bytes, one-shot %v: %.1f us by %s, published %.1f", x.bytes, x.oneShot, float64(p.Estimate)*1e6, p.Algorithm, x.us)
		}
	}
}

// DeepEP's low-latency kernels on H800: EP128 takes 192 us to dispatch 128 tokens of
// 7168 in FP8 and 369 us to combine (modelling figures of DeepEP).
func TestLowLatencyAcrossNodes(t *testing.T) {
	m := machine(t, "h800x128", "sglang")
	for _, x := range []struct {
		combine bool
		elem    int64
		us      float64
	}{{false, 1, 192}, {true, 2, 369}} {
		p := m.Collective(&work.Comm{Kind: work.Dispatch, Size: 128, Stride: 1, Bytes: unit.Bytes(128 * 7168 * x.elem), TopK: 8, Experts: 256, LowLatency: true, Combine: x.combine})
		if r := float64(p.Estimate) * 1e6 / x.us; r < 0.75 || r > 1.25 {
			t.Errorf("combine %v: %.0f us, published %.0f", x.combine, float64(p.Estimate)*1e6, x.us)
		}
	}
}

// A machine without an engine prices what training runs; naming one must not change
// collectives of the library.
func TestEnginesLeaveTheLibraryAlone(t *testing.T) {
	bare, named := machine(t, "h100x16", ""), machine(t, "h100x16", "vllm")
	c := work.Comm{Kind: work.AllReduce, Size: 16, Stride: 1, Bytes: 1 << 20}
	if a, b := bare.Collective(&c), named.Collective(&c); a != b {
		t.Errorf("with an engine %+v, without %+v", b, a)
	}
}

// Tokens whose experts lie on other ranks are sorted and masked here all the same; how
// many experts there are in all does not make the own rows cheaper.
func TestChoicesElsewhereCost(t *testing.T) {
	for _, e := range engines {
		m := machine(t, "h100x8", e)
		last := 0.0
		for _, elsewhere := range []float64{0, 1e3, 1e4, 1e5} {
			op := expertsOp(unit.BF16, 1024, 16, 4096, 7168)
			op.Choices = op.Rows + elsewhere
			last = grows(t, e+" experts", m.Op(&op), last)
		}
	}
}

// A few rows per expert run in narrow tiles: with the weights' way from memory taken
// off they do not cost what 64 rows cost.
func TestFewRowsRunInNarrowTiles(t *testing.T) {
	m := machine(t, "h200x8", "trtllm")
	at := func(per float64) float64 {
		op := expertsOp(unit.FP8, 512*per, 512, 4096, 7168)
		op.Bytes = 0
		return float64(m.Op(&op).Estimate)
	}
	if few, many := at(2), at(64); few > many/2 {
		t.Errorf("2 rows per expert take %.3g s, 64 take %.3g s", few, many)
	}
}
