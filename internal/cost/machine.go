package cost

import (
	"fmt"
	"math"
	"strings"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Options chooses the rates a Machine prices with. The zero value is the default.
type Options struct {
	UsePeak bool // datasheet peaks instead of achieved figures
	// Sustained replaces the generation's share, see Machine.Sustained; 0 = keep it.
	Sustained float64
	// Attention is the share of the best fused attention's rate that an older kernel
	// reaches, 0 to 1; 0 = the best.
	Attention float64
	// ExpertWait replaces the default, see Machine.ExpertWait; 0 = keep it.
	ExpertWait unit.Seconds
	// CopyPerChoice exchanges training's tokens by plain all-to-all: a copy for each expert
	// chosen, where the kernels of DeepEP send one to each node.
	CopyPerChoice bool
	// Graphs launches training's layers as CUDA graphs: no launch of routed experts waits for the host.
	Graphs bool
	// Engine names the serving engine whose kernels and overheads are priced; empty
	// prices training's.
	Engine string
	// Eager launches from the host, so that its pace bounds small operations; else a
	// CUDA graph does.
	Eager bool
}

// Resource is a ceiling that can bind an operation.
type Resource uint8

// The resources. ScaleUp prints as "nvlink", the name users search for.
const (
	Compute Resource = iota
	HBM
	ScaleUp
	Network
	Latency
)

var resourceNames = [...]string{"compute", "hbm", "nvlink", "network", "latency"}

// String is the resource's name in reports.
func (r Resource) String() string { return resourceNames[r] }

// Machine prices operations on one cluster. It is immutable after New and safe
// for concurrent use.
type Machine struct {
	cluster *hw.Cluster
	options Options

	matrix     [unit.NumFormats]float64 // FLOP/s of the largest GEMMs; 0 = the device lacks the format
	attFwd     float64                  // FLOP/s
	attBwd     float64                  // FLOP/s
	hbm        float64                  // bytes/s
	scaleUp    float64                  // bytes/s per GPU and direction
	reduce     float64                  // bytes/s of the tensor in an in-switch all-reduce (algbw); 0 = no such switch
	nic        float64                  // bytes/s per GPU and direction; 0 on one node
	uplink     float64                  // bytes/s of a NIC's share of its leaf's uplinks
	rails      bool                     // rank i of a node talks to rank i of others below one leaf
	nicLat     float64                  // seconds one way
	crossing   float64                  // seconds of a small message between nodes, software included
	nodeGPUs   int64
	sms        float64
	pipes      float64 // multiplications of one SM, of those of the SMs that the kernels were fitted on
	gemm       [unit.NumFormats]gemmRates
	decodeCore float64                   // FLOP/s of a CPU's attention core for generated tokens; 0 = attFwd
	timed      bool                      // kernels of the generation were
	vector     bool                      // a CPU: see vector.go
	rows       [unit.NumFormats]rowCurve // of vector units, by rows
	blocks     [unit.NumFormats]rowBlocks
	rowEnd     [unit.NumFormats]unit.Seconds
	read       [unit.NumFormats]float64 // bytes/s at which products of one row read weights; 0 = hbm
	floorRead  float64                  // bytes/s that no kernel reads weights faster than: hbm, or what caches give
	att, mla   attentionRates
	serving    serving

	// Datasheet figures that the engines' shares refer to; 0 = not published.
	peakHalf, peakHBM, peakScaleUp float64
	peakMatrix                     [unit.NumFormats]float64
	links                          hw.Links

	pessimism   float64 // share of the estimate's rates behind Upper
	assumptions note.List
}

// New resolves the cluster's figures into rates. A figure that is neither
// measured nor on the datasheet is an error that names it.
func New(c *hw.Cluster, o Options) (*Machine, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	m := &Machine{cluster: c, options: o, nodeGPUs: c.Node.GPUs}
	if err := m.resolve(); err != nil {
		return nil, err
	}
	return m, nil
}

// Assumptions lists the figures nobody measured on this device and what stood
// in for them, one line each, for the report.
func (m *Machine) Assumptions() note.List { return m.assumptions }

// Supports says whether the device multiplies in format f, as an error that
// names the formats it has. Op prices an unsupported format at +Inf.
func (m *Machine) Supports(f unit.Format) error {
	if m.matrix[f] > 0 {
		return nil
	}
	var have []string
	for g := range unit.NumFormats {
		if m.matrix[g] > 0 {
			have = append(have, g.String())
		}
	}
	return fmt.Errorf("%s has no %s matrix rate: use one of %s", m.cluster.Device.Name, f, strings.Join(have, ", "))
}

// MatrixRate is the FLOP/s that prices large products of format f.
func (m *Machine) MatrixRate(f unit.Format) unit.FLOPRate { return unit.FLOPRate(m.matrix[f]) }

// HBMRate is the streaming memory rate in bytes/s.
func (m *Machine) HBMRate() unit.ByteRate { return unit.ByteRate(m.hbm) }

// ScaleUpRate is the rate of one GPU's scale-up link, one direction.
func (m *Machine) ScaleUpRate() unit.ByteRate { return unit.ByteRate(m.scaleUp) }

// NetworkRate is the rate of one GPU's NIC, one direction; 0 on one node.
func (m *Machine) NetworkRate() unit.ByteRate { return unit.ByteRate(m.nic) }

// over is amount/rate that is zero for no work and +Inf for no rate, never NaN.
func over(amount, rate float64) float64 {
	if amount == 0 {
		return 0
	}
	if rate <= 0 {
		return math.Inf(1)
	}
	return amount / rate
}
