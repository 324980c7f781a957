package cost

import (
	"fmt"
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// All-gather of DeepSeek-V3's 671.03e9 bf16 parameters over 2,048 H800 by hand:
// 1342 GB x 2047/2048 over one 50 GB/s NIC, an eighth of it on the rails, 7/8 of it
// at 160 GB/s on NVLink; three such collectives are 80.5, 10.1 and 22.0 s.
func TestParameterGatherOver2048H800(t *testing.T) {
	m := mustNew(t, h800(2048))
	c := work.Comm{Kind: work.AllGather, Size: 2048, Stride: 1, Bytes: 2 * 671_030_000_000}
	seen := 0
	for _, a := range m.Alternatives(&c) {
		switch a.Algorithm {
		case "flat ring":
			near(t, "flat ring on the NIC", 3*float64(a.Network), 80.5, 0.005)
			seen++
		case "hierarchical":
			near(t, "rails", 3*float64(a.Network), 10.1, 0.01)
			near(t, "NVLink", 3*float64(a.ScaleUp), 22.0, 0.005)
			seen++
		}
	}
	if seen != 2 {
		t.Fatalf("want a flat and a hierarchical ring, saw %d of them", seen)
	}
	if got := m.Collective(&c); got.Link != ScaleUp || got.Algorithm != "hierarchical" {
		t.Errorf("chosen %s bound by %s, want hierarchical bound by nvlink", got.Algorithm, got.Link)
	}
	c.Kind = work.ReduceScatter
	near(t, "reduce-scatter on NVLink", float64(m.Collective(&c).ScaleUp), 7.34, 0.005)
}

// The expert all-to-all of a DeepSeek-V3 step (arXiv:2412.19437 sections 3.2.1,
// 3.2.2): a rank sees 491,520 tokens in 58/16 MoE layers, dispatches one byte per
// element and combines two, forward and backward. About 3.5 remote nodes per token
// make 267 GB, 5.4 s at 50 GB/s and about 6 s at what DeepEP reaches.
func TestExpertExchangeOfAStep(t *testing.T) {
	m := mustNew(t, h800(2048))
	var bytes, sol, estimate float64
	for _, width := range []int64{1, 2} {
		c := work.Comm{Kind: work.Dispatch, Axis: work.AxisEP, Size: 64, Stride: 1,
			Bytes: unit.Bytes(width * 7168 * 491_520 * 58 / 16), TopK: 8, TopGroups: 4, Groups: 8, Experts: 256}
		d := m.Collective(&c)
		if d.Link != Network {
			t.Errorf("bound by %s, want network", d.Link)
		}
		bytes += 2 * float64(d.NetworkBytes)
		sol += 2 * float64(d.Network)
		estimate += 2 * float64(d.Estimate)
	}
	near(t, "bytes on the NIC", bytes, 267e9, 0.01)
	near(t, "seconds at 50 GB/s", sol, 5.4, 0.01)
	near(t, "seconds at DeepEP's rate", estimate, 6.1, 0.04)
}

// DeepEP's normal kernels on H800: 4,096 tokens, hidden 7168, top-8 of at most four
// groups (nodes), GB/s of the bytes for the distinct nodes of each token, mean of
// dispatch and combine (deepseek-ai/DeepEP:docs/legacy.md).
func TestDeepEP(t *testing.T) {
	for _, row := range []struct {
		ranks int64
		gbs   float64
	}{{16, 43}, {32, 57.5}, {64, 50.5}, {128, 43.5}} {
		t.Run(fmt.Sprint("EP", row.ranks), func(t *testing.T) {
			nodes := row.ranks / 8
			c := work.Comm{Kind: work.Dispatch, Size: row.ranks, Stride: 1, Bytes: 4096 * 7168,
				TopK: 8, Groups: nodes, TopGroups: min(4, nodes), Experts: 256}
			m := mustNew(t, h800(row.ranks))
			d := m.Collective(&c)
			all := float64(d.NetworkBytes) * float64(nodes) / float64(nodes-1)
			near(t, "GB/s", all/float64(d.Estimate)/1e9, row.gbs, 0.08)
		})
	}
}

// Decode ceiling of arXiv:2505.09343 section 2.3.2: every copy crosses the link, so
// 256 ranks with one expert each and no limit touch eight distinct ones.
func TestOneExpertPerRank(t *testing.T) {
	c := work.Comm{Kind: work.Dispatch, Size: 256, Stride: 1, Bytes: 1, TopK: 8, Experts: 256}
	m := mustNew(t, h800(256))
	if got := distinctGPUs(m.place(&c), &c); got < 7.999999 || got > 8.000001 {
		t.Errorf("distinct GPUs = %v, want 8", got)
	}
}

// Busbw of a large all-reduce, 4 nodes x 8 B200 with 50 GB/s per GPU: 382 GB/s at
// 16 GiB, 362 at 1 GiB; H200: 364.9 at 4 GiB (stas00/ml-engineering:network/README.md).
func TestAllReduceOverFourNodes(t *testing.T) {
	c := h800(32)
	c.Device.Achieved.ScaleUp, c.Device.Peak.ScaleUp = fig(682.2e9), fig(900e9)
	m := mustNew(t, c)
	for _, row := range []struct {
		gib  int64
		want float64
	}{{16, 382}, {1, 362}} {
		r := work.Comm{Kind: work.AllReduce, Size: 32, Stride: 1, Bytes: unit.Bytes(row.gib << 30)}
		busbw := 2 * 31.0 / 32 * float64(r.Bytes) / float64(m.Collective(&r).Estimate)
		near(t, fmt.Sprint(row.gib, " GiB busbw GB/s"), busbw/1e9, row.want, 0.05)
	}
}

// NVLS on 8 H200: 479.98 GB/s busbw at 8 GB (Azure/AI-benchmarking-guide); four
// GPUs keep the ring at 363 (stas00/ml-engineering:network/README.md).
func TestInSwitchAllReduce(t *testing.T) {
	c := h800(8)
	c.Device.Achieved.ScaleUp, c.Device.Peak.ScaleUp = fig(365.6e9), fig(450e9)
	c.Device.Achieved.ScaleUpReduce = fig(479.98e9)
	m := mustNew(t, c)
	r := work.Comm{Kind: work.AllReduce, Size: 8, Stride: 1, Bytes: 8e9}
	got := m.Collective(&r)
	if got.Algorithm != "in-switch" {
		t.Errorf("8 GPUs: %s, want in-switch", got.Algorithm)
	}
	near(t, "busbw of 8", 2*7.0/8*8e9/float64(got.Estimate)/1e9, 480, 0.03)
	r.Size = 4
	got = m.Collective(&r)
	if got.Algorithm != "ring" {
		t.Errorf("4 GPUs: %s, want ring", got.Algorithm)
	}
	near(t, "busbw of 4", 2*3.0/4*8e9/float64(got.Estimate)/1e9, 363, 0.06)
}

// The exchange's kernels take 20 of the H800's 132 SMs (arXiv:2412.19437 section 3.2.2).
func TestSMsOfTheExpertExchange(t *testing.T) {
	m := mustNew(t, h800(64))
	if got, want := m.CommSMShare(), 20.0/132; got != want {
		t.Errorf("share %v, want %v", got, want)
	}
}

// Plain all-to-all sends a copy for each choice: of eight choices over the 64 ranks of eight
// nodes 7 x 7/8 leave the node, where DeepEP's kernels send at most four, one to each node.
func TestCopyPerChoice(t *testing.T) {
	c := work.Comm{Kind: work.Dispatch, Size: 64, Stride: 1, Bytes: 1 << 20, TopK: 8, TopGroups: 4, Groups: 8, Experts: 256}
	plain, err := New(h800(64), Options{CopyPerChoice: true})
	if err != nil {
		t.Fatal(err)
	}
	once := mustNew(t, h800(64)).Collective(&c)
	copies := plain.Collective(&c)
	if want := unit.Bytes(8 * (1 << 20) * 56 / 64); copies.NetworkBytes != want {
		t.Errorf("%d bytes leave the node, want %d", copies.NetworkBytes, want)
	}
	if copies.Estimate < 1.5*once.Estimate {
		t.Errorf("%v with copies, %v without", copies.Estimate, once.Estimate)
	}
}
