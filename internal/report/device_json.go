package report

import "github.com/ridgeline/ridgeline/internal/hw"

// DeviceDoc is a GPU in JSON; values are SI, absent figures are left out.
type DeviceDoc struct {
	Name         string       `json:"name"`
	Aliases      []string     `json:"aliases"`
	Vendor       string       `json:"vendor"`
	Architecture string       `json:"architecture"`
	SMs          int64        `json:"sm_count,omitempty"`
	BoostHz      float64      `json:"boost_hz,omitempty"`
	Confidence   string       `json:"peak_confidence"`
	Figures      []PairDoc    `json:"figures"`
	Others       []ReadingDoc `json:"others"`
	Node         NodeDoc      `json:"default_node"`
	Notes        string       `json:"notes,omitempty"`
}

// PairDoc is one quantity, peak and achieved.
type PairDoc struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Peak     *Figure `json:"peak,omitempty"`
	Achieved *Figure `json:"achieved,omitempty"`
}

// ReadingDoc is a measurement that planning does not use.
type ReadingDoc struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Figure *Figure `json:"figure"`
}

// NodeDoc is a node and its network.
type NodeDoc struct {
	GPUs             int64   `json:"gpus"`
	ScaleUpKind      string  `json:"scale_up_kind,omitempty"`
	NIC              *Figure `json:"nic_bytes_per_second_per_gpu,omitempty"`
	NICKind          string  `json:"nic_kind,omitempty"`
	NICLatency       *Figure `json:"nic_latency_seconds,omitempty"`
	SharedNIC        bool    `json:"shared_nic"`
	Rails            bool    `json:"rails"`
	Oversubscription float64 `json:"oversubscription"`
}

func nodeDoc(n *hw.NodeSpec, f *hw.Fabric) NodeDoc {
	return NodeDoc{n.GPUs, n.ScaleUpKind, figureJSON(n.NIC), n.NICKind, figureJSON(n.NICLatency), n.SharedNIC, f.Rails, f.Oversubscription}
}

// NewDeviceDoc describes one GPU.
func NewDeviceDoc(d *hw.Device) *DeviceDoc {
	doc := &DeviceDoc{Name: d.Name, Aliases: d.Aliases, Vendor: d.Vendor, Architecture: d.Arch, SMs: d.SMs, BoostHz: d.BoostHz,
		Confidence: d.Peak.Confidence.String(), Others: []ReadingDoc{}, Node: nodeDoc(&d.DefaultNode, &d.DefaultFabric), Notes: d.Notes}
	for _, f := range deviceFigures(d) {
		doc.Figures = append(doc.Figures, PairDoc{f.name, f.si, figureJSON(f.peak), figureJSON(f.achieved)})
	}
	for _, r := range d.Others {
		doc.Others = append(doc.Others, ReadingDoc{r.Quantity, siOf(r.Unit), figureJSON(r.Figure)})
	}
	return doc
}
