package cost_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Every device of the catalogue can be priced in a cluster, or the error says
// which figure is missing.
func TestEveryDeviceIsPricedOrNamesWhatItLacks(t *testing.T) {
	for _, d := range catalog.Devices() {
		c, err := catalog.Cluster(fmt.Sprintf("%sx%d", d.Name, 4*d.DefaultNode.GPUs))
		if err != nil {
			t.Log(err)
			continue
		}
		m, err := cost.New(c, cost.Options{})
		if err != nil {
			if !strings.Contains(err.Error(), d.Name) {
				t.Errorf("%s: error %q does not name the device", d.Name, err)
			}
			t.Log(err)
			continue
		}
		f := unit.BF16
		if m.Supports(f) != nil {
			f = unit.FP16
		}
		op := work.Op{Kind: work.GEMM, Format: f, M: 4096, N: 4096, K: 4096, Groups: 1, Count: 1, FLOPs: 2 << 36, Bytes: 3 << 25}
		p := m.Op(&op)
		r := m.Collective(&work.Comm{Kind: work.AllReduce, Size: c.GPUs, Stride: 1, Bytes: 1 << 28})
		if !(p.Floor > 0 && p.Estimate >= p.Floor && p.Estimate < 2*p.Floor) {
			t.Errorf("%s: GEMM %+v is far from its floor", d.Name, p)
		}
		if !(r.Floor > 0 && r.Estimate >= r.Floor && r.Upper >= r.Estimate) {
			t.Errorf("%s: all-reduce %+v", d.Name, r)
		}
	}
}

// Cards on PCIe exchange through the host: at less than half of the link's rate and
// from 10 us on, whatever kernels an engine has for NVLink.
func TestCollectivesOverPCIe(t *testing.T) {
	c, err := catalog.Cluster("rtx-pro-6000x2")
	if err != nil {
		t.Fatal(err)
	}
	m, err := cost.New(c, cost.Options{Engine: "vllm"})
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []unit.Bytes{10 << 10, 1 << 20, 64 << 20} {
		x := work.Comm{Kind: work.AllReduce, Size: 2, Stride: 1, Bytes: bytes, OneShot: true}
		got := m.Collective(&x)
		link := unit.Seconds(float64(bytes) / 63e9) // PCIe 5 x16
		if got.Algorithm != "ring" || got.Floor < link || got.Estimate < 2*link+10e-6 {
			t.Errorf("%d bytes: %+v, the link alone takes %g s", bytes, got, link)
		}
	}
}
