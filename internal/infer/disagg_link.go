package infer

import (
	"fmt"
	"math"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// KVLink is the way of one request's KV cache from a prefill instance to a decode
// instance: start + size/rate, in an estimate and its bounds.
type KVLink struct {
	Start            unit.Seconds
	Rate             unit.ByteRate // all GPUs of the smaller side together, one direction
	Fastest, Slowest unit.ByteRate // the nominal rate, and the worst share of it that was measured
	SlowestStart     unit.Seconds  // the worst start that was measured
	GPUs             int           // of each side, whose links work together
	Inside           bool          // both sides share one scale-up link: no network is crossed
	Source           string        // whose share of the nominal rate and whose start
	Assumed          bool          // the share is other hardware's
}

// kvMeasured are measured transfers of whole caches between two nodes. RDMA
// software reaches very different shares of the NICs' nominal rate.
var kvMeasured = []struct {
	device        string
	start         unit.Seconds // 0 = not stated
	rate, nominal float64      // bytes/s of a node
	source        string
}{
	{"h800-sxm", 0.54e-3, 144e9, 400e9, "8 x 400 Gb/s RoCE, 0.54 ms + size/144 GB/s: modelling notes, section 4"},
	{"h20-96gb", 1.7e-3, 168e9, 200e9, "4 x 400 Gb/s, 1.7 ms + size/168 GB/s: modelling notes, section 4"},
	{"", 0, 190e9, 400e9, "40 GB over 8 x 400 Gb/s RoCE: kvcache-ai/Mooncake:README.md"},
	{"", 0, 87e9, 100e9, "40 GB over 4 x 200 Gb/s RoCE: kvcache-ai/Mooncake:README.md"},
}

// KVLink is the way of a cache from a prefill instance of layout from to this engine.
func (e *Engine) KVLink(from *plan.Serving) (*KVLink, error) {
	return NewKVLink(e.setup.Cluster, e.machine.NodeLink(), from, &e.setup.Plan)
}

// NewKVLink is the link between instances on the cluster, whose GPUs reach each other
// inside a node at the rate nodeLink. Only GPUs that hold the request's cache send
// or receive it, each over its own NIC (a shared NIC is already divided); the side
// with fewer decides. The share of the nominal rate is the device's own where it was
// measured, the median of all measurements otherwise. On a cluster of one node caches
// take the scale-up link at nodeLink; for its start, which is software's, and its
// slowest share those over networks stand in. It errs where the cluster has
// several nodes and no known network.
func NewKVLink(c *hw.Cluster, nodeLink unit.ByteRate, from, to *plan.Serving) (*KVLink, error) {
	l := &KVLink{GPUs: min(from.CacheGPUs(), to.CacheGPUs()), Inside: c.Nodes() == 1, Assumed: true}
	if l.GPUs < 1 {
		return nil, fmt.Errorf("kv transfer between %d and %d GPUs: give at least 1 on each side", from.CacheGPUs(), to.CacheGPUs())
	}
	if !l.Inside && !c.Node.NIC.Known() {
		return nil, fmt.Errorf("cluster %q: no NIC rate is known to move KV caches over: set node.nic_gb_per_s_per_gpu in a cluster file", c.Name)
	}
	nominal := c.Node.NIC.Value * float64(l.GPUs)
	var shares, starts []float64
	for _, k := range kvMeasured {
		shares = append(shares, k.rate/k.nominal)
		if k.start > 0 {
			starts = append(starts, float64(k.start))
		}
		if !l.Inside && c.Device != nil && k.device == c.Device.Name {
			l.Rate, l.Start, l.Source = unit.ByteRate(nominal*k.rate/k.nominal), k.start, k.source
			l.Assumed = false
		}
	}
	slices.Sort(shares)
	slices.Sort(starts)
	if l.Inside {
		nominal = c.Device.Peak.ScaleUp.Value * float64(l.GPUs)
		l.Rate = nodeLink * unit.ByteRate(l.GPUs)
		l.Source = fmt.Sprintf("what GPUs of a node send each other, with the start of %d published transfers between nodes", len(starts))
	}
	if l.Assumed {
		l.Start = unit.Seconds((starts[0] + starts[len(starts)-1]) / 2)
	}
	if l.Assumed && !l.Inside {
		middle := (shares[len(shares)/2] + shares[(len(shares)-1)/2]) / 2
		l.Rate = unit.ByteRate(nominal * middle)
		l.Source = fmt.Sprintf("%.0f %% of the NICs' rate, the median of %d published transfers", 100*middle, len(shares))
	}
	l.Fastest, l.Slowest = max(unit.ByteRate(nominal), l.Rate), min(unit.ByteRate(nominal*shares[0]), l.Rate)
	l.SlowestStart = unit.Seconds(starts[len(starts)-1])
	return l, nil
}

// Transfer is the time to move a cache of n bytes that has the link for itself,
// and its bounds.
func (l *KVLink) Transfer(n unit.Bytes) (floor, estimate, upper unit.Seconds) {
	return n.Over(l.Fastest), l.Start + n.Over(l.Rate), l.SlowestStart + n.Over(l.Slowest)
}

// CacheSize is the bytes of the KV cache of n tokens at perToken bytes each, over
// all layers; a latent or head that several ranks hold crosses once.
func CacheSize(n int64, perToken float64) unit.Bytes {
	return unit.Bytes(math.Ceil(float64(n) * perToken))
}
