package infer

import (
	"fmt"
	"math"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// KVLink is the way of KV caches from a prefill instance to a decode instance:
// start + size/rate, in an estimate and its bounds.
type KVLink struct {
	Start            unit.Seconds
	Rate             unit.ByteRate // all NICs of the smaller side together, one direction
	Fastest, Slowest unit.ByteRate // the nominal rate, and the worst share of it that was measured
	SlowestStart     unit.Seconds  // the worst start that was measured
	NICs             int64         // how many work together
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

// NewKVLink is the link between instances of from and to GPUs on the cluster. Each
// GPU brings one NIC's rate (a shared NIC is already divided), the smaller side
// decides. The share of the nominal rate is the device's own where it was
// measured, the median of all measurements otherwise. It errs where the cluster
// has no known network.
func NewKVLink(c *hw.Cluster, from, to int64) (*KVLink, error) {
	if from < 1 || to < 1 {
		return nil, fmt.Errorf("kv transfer between %d and %d GPUs: give at least 1 on each side", from, to)
	}
	if !c.Node.NIC.Known() {
		return nil, fmt.Errorf("cluster %q: no NIC rate is known to move KV caches over: set node.nic_gb_per_s_per_gpu in a cluster file", c.Name)
	}
	l := &KVLink{NICs: min(from, to), Assumed: true}
	nominal := c.Node.NIC.Value * float64(l.NICs)
	var shares, starts []float64
	for _, k := range kvMeasured {
		shares = append(shares, k.rate/k.nominal)
		if k.start > 0 {
			starts = append(starts, float64(k.start))
		}
		if c.Device != nil && k.device == c.Device.Name {
			l.Rate, l.Start, l.Source = unit.ByteRate(nominal*k.rate/k.nominal), k.start, k.source
			l.Assumed = false
		}
	}
	slices.Sort(shares)
	slices.Sort(starts)
	if l.Assumed {
		middle := (shares[len(shares)/2] + shares[(len(shares)-1)/2]) / 2
		l.Rate = unit.ByteRate(nominal * middle)
		l.Start = unit.Seconds((starts[0] + starts[len(starts)-1]) / 2)
		l.Source = fmt.Sprintf("%.0f %% of the NICs' rate, the median of %d published transfers", 100*middle, len(shares))
	}
	l.Fastest, l.Slowest = unit.ByteRate(nominal), unit.ByteRate(nominal*shares[0])
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
