package cost

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// checkPrice holds the invariants of every price.
func checkPrice(t *testing.T, p Price) {
	t.Helper()
	for _, v := range []unit.Seconds{p.Compute, p.HBM, p.Floor, p.Estimate, p.Upper} {
		if math.IsNaN(float64(v)) || v < 0 {
			t.Fatalf("price %+v has a negative or undefined time", p)
		}
	}
	if p.Floor > p.Estimate || p.Estimate > p.Upper || p.Floor < max(p.Compute, p.HBM) {
		t.Fatalf("price %+v is out of order", p)
	}
}

// checkTransfer holds the invariants of every transfer.
func checkTransfer(t *testing.T, p Transfer) {
	t.Helper()
	for _, v := range []unit.Seconds{p.ScaleUp, p.Network, p.Latency, p.Floor, p.Estimate, p.Upper} {
		if math.IsNaN(float64(v)) || v < 0 {
			t.Fatalf("transfer %+v has a negative or undefined time", p)
		}
	}
	if p.Floor > p.Estimate || p.Estimate > p.Upper || p.Floor < max(p.ScaleUp, p.Network) {
		t.Fatalf("transfer %+v is out of order", p)
	}
	if p.ScaleUpBytes < 0 || p.NetworkBytes < 0 {
		t.Fatalf("transfer %+v has negative bytes", p)
	}
}

var kinds = []work.CommKind{work.AllGather, work.ReduceScatter, work.AllReduce, work.AllToAll, work.Dispatch, work.SendRecv, work.RingExchange}

func comm(kind work.CommKind, size, stride int64, b unit.Bytes) *work.Comm {
	return &work.Comm{Kind: kind, Size: size, Stride: stride, Bytes: b, TopK: 8, TopGroups: 4, Groups: 8, Experts: 256}
}

func TestOneRankCostsNothing(t *testing.T) {
	m := mustNew(t, h800(2048))
	for _, k := range kinds {
		c := comm(k, 1, 1, 1<<30)
		if got := m.Collective(c); got.Estimate != 0 || got.Upper != 0 || got.ScaleUpBytes+got.NetworkBytes != 0 {
			t.Errorf("kind %d: %+v, want zero", k, got)
		}
		if got := m.Alternatives(c); got != nil {
			t.Errorf("kind %d: alternatives %+v, want none", k, got)
		}
	}
}

func TestBytesOnEachLink(t *testing.T) {
	m := mustNew(t, h800(256))
	const s = 32 << 20
	for _, row := range []struct {
		why              string
		c                *work.Comm
		scaleUp, network unit.Bytes
	}{
		{"inside a node only NVLink carries", comm(work.AllGather, 8, 1, s), s * 7 / 8, 0},
		{"all-reduce makes two passes", comm(work.AllReduce, 8, 1, s), 2 * s * 7 / 8, 0},
		{"every second GPU: four of a node's eight", comm(work.AllGather, 8, 2, s), s * 3 / 4, s / 2 / 4},
		{"stride of a node: one member each", comm(work.AllGather, 32, 8, s), 0, s * 31 / 32},
		{"stride beyond a node", comm(work.AllGather, 16, 16, s), 0, s * 15 / 16},
		{"32 nodes of 8 on their rails", comm(work.ReduceScatter, 256, 1, s), s * 7 / 8, s * 31 / 32 / 8},
		{"uniform exchange: 7 and 24 of 32 parts leave", comm(work.AllToAll, 32, 1, s), s * 7 / 32, s * 24 / 32},
		{"the next stage is on another node", comm(work.SendRecv, 16, 16, s), 0, s},
		{"the next stage is on the same node", comm(work.SendRecv, 2, 1, s), s, 0},
		{"ring attention hands its block on n-1 times", comm(work.RingExchange, 8, 1, s), 7 * s, 0},
	} {
		got := m.Collective(row.c)
		if got.ScaleUpBytes != row.scaleUp || got.NetworkBytes != row.network {
			t.Errorf("%s: %d and %d bytes, want %d and %d", row.why, got.ScaleUpBytes, got.NetworkBytes, row.scaleUp, row.network)
		}
	}
}

func TestPlacementOfSizesThatDoNotDivide(t *testing.T) {
	m := mustNew(t, h800(2048))
	for _, row := range []struct{ size, stride, inNode, nodes int64 }{
		{12, 1, 8, 2}, {3, 3, 3, 1}, {6, 3, 3, 2}, {5, 8, 1, 5}, {2, 4, 2, 1}, {7, 1, 7, 1}, {100, 1000, 1, 100},
	} {
		got := m.place(comm(work.AllGather, row.size, row.stride, 1))
		if got.inNode != row.inNode || got.nodes != row.nodes {
			t.Errorf("size %d stride %d: %d per node on %d nodes, want %d on %d", row.size, row.stride, got.inNode, got.nodes, row.inNode, row.nodes)
		}
	}
}

func TestMoreBytesNeverTakeLessTime(t *testing.T) {
	m := mustNew(t, h800(2048))
	for _, k := range kinds {
		for _, size := range []int64{2, 3, 8, 12, 16, 64, 2048} {
			for _, stride := range []int64{1, 2, 8, 64} {
				last := Transfer{}
				for b := unit.Bytes(1); b < 1<<40; b *= 3 {
					got := m.Collective(comm(k, size, stride, b))
					checkTransfer(t, got)
					if got.Estimate < last.Estimate || got.Floor > got.Estimate {
						t.Fatalf("kind %d size %d stride %d: %d bytes take %v after %v", k, size, stride, b, got.Estimate, last.Estimate)
					}
					last = got
				}
			}
		}
	}
}

// slower are clusters with one figure made worse than h800's.
var slower = map[string]func(c *hw.Cluster){
	"BF16":             func(c *hw.Cluster) { c.Device.Achieved.Matrix[unit.BF16] = fig(400e12) },
	"BF16 peak":        func(c *hw.Cluster) { c.Device.Peak.Matrix[unit.BF16] = fig(760e12) },
	"HBM":              func(c *hw.Cluster) { c.Device.Achieved.HBM = fig(1000e9) },
	"NVLink":           func(c *hw.Cluster) { c.Device.Achieved.ScaleUp = fig(80e9) },
	"NIC":              func(c *hw.Cluster) { c.Node.NIC = fig(10e9) },
	"NIC latency":      func(c *hw.Cluster) { c.Node.NICLatency = fig(1e-3) },
	"oversubscription": func(c *hw.Cluster) { c.Fabric.Oversubscription = 4 },
	"rails":            func(c *hw.Cluster) { c.Fabric.Oversubscription, c.Fabric.Rails = 4, false },
}

func TestWorseHardwareIsNeverFaster(t *testing.T) {
	base := mustNew(t, h800(2048))
	ops := []work.Op{
		gemm(unit.BF16, 4096, 7168, 2048), gemm(unit.BF16, 17, 7168, 2048), gemm(unit.BF16, 65536, 16384, 16384),
		core(192, 4096, 128, false), core(128, 8192, 8, true), {Kind: work.Elementwise, Bytes: 1 << 28, Count: 1},
	}
	for name, change := range slower {
		c := h800(2048)
		change(c)
		m := mustNew(t, c)
		for _, op := range ops {
			if a, b := base.Op(&op).Estimate, m.Op(&op).Estimate; b < a {
				t.Errorf("worse %s: op %+v takes %v, was %v", name, op, b, a)
			}
		}
		for _, k := range kinds {
			for _, size := range []int64{8, 64, 2048} {
				r := comm(k, size, 1, 1<<28)
				if a, b := base.Collective(r).Estimate, m.Collective(r).Estimate; float64(b) < float64(a)*(1-1e-12) {
					t.Errorf("worse %s: kind %d of %d takes %v, was %v", name, k, size, b, a)
				}
			}
		}
	}
}

// The leaf's uplinks bound what leaves a rail, not what stays on it.
func TestOversubscription(t *testing.T) {
	full := mustNew(t, h800(2048))
	c := h800(2048)
	c.Fabric.Oversubscription = 2
	thin := mustNew(t, c)
	exchange := comm(work.AllToAll, 64, 1, 1<<30)
	if a, b := full.Collective(exchange).Network, thin.Collective(exchange).Network; b != 2*a {
		t.Errorf("an exchange over all rails takes %v, want twice %v", b, a)
	}
	rails := comm(work.AllGather, 64, 1, 1<<30)
	a, b := full.Collective(rails), thin.Collective(rails)
	if a.Network != b.Network || b.Upper <= a.Upper {
		t.Errorf("on rails: %v and upper %v, want %v and more than %v", b.Network, b.Upper, a.Network, a.Upper)
	}
	c.Fabric.Rails = false
	if got := mustNew(t, c).Collective(rails).Network; got != 2*a.Network {
		t.Errorf("without rails %v, want twice %v", got, a.Network)
	}
}
