package report

import (
	"fmt"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Clusters prints the embedded clusters, one line each.
func Clusters(p *Page, clusters []*hw.Cluster) {
	rows := make([][]string, len(clusters))
	for i, c := range clusters {
		rows[i] = []string{c.Name, strconv.FormatInt(c.GPUs, 10), c.Device.Name, nodeText(&c.Node, &c.Fabric)}
	}
	p.Table([]Column{Left("name"), Right("GPUs"), Left("GPU"), Left("node")}, rows)
	p.Line("")
	p.Text(0, "Any GPU name with a count is a cluster too, with the GPU's default node: `ridgeline clusters h100x512`. A YAML file describes your own: see docs/formats.md.")
}

// Cluster prints one cluster.
func Cluster(p *Page, c *hw.Cluster) {
	p.Heading("%s", c.Name)
	d := c.Device
	peak, achieved := d.Peak.Matrix[unit.BF16], d.Achieved.Matrix[unit.BF16]
	p.Facts(
		[2]string{"GPUs", fmt.Sprintf("%d x %s in %s", c.GPUs, d.Name, Plural(c.Nodes(), "node"))},
		[2]string{"node", nodeText(&c.Node, &c.Fabric)},
		[2]string{"memory in all", total(d.Peak.Memory, c.GPUs, "B")},
		[2]string{"BF16 in all, peak", total(peak, c.GPUs, "FLOP/s")},
		[2]string{"BF16 in all, achieved", total(achieved, c.GPUs, "FLOP/s")},
		[2]string{"price", given(c.PricePerGPUHour, "USD per GPU-hour")},
		[2]string{"GPU MTBF", given(float64(c.GPUMTBF)/3600, "h")},
		[2]string{"power per GPU with its node's share", given(c.PowerPerGPU, "W")},
	)
	p.Line("")
	var sources citations
	var rows [][]string
	for _, f := range clusterFigures(c) {
		if f.peak.Known() || f.achieved.Known() {
			rows = append(rows, []string{f.name, formatFigure(f.peak, f.si), formatFigure(f.achieved, f.si), share(f.achieved, f.peak), cited(&sources, f.peak, f.achieved)})
		}
	}
	p.Table([]Column{Left("link, per GPU and direction"), Right("nominal"), Right("achieved"), Right("share"), Left("source")}, rows)
	p.Line("")
	p.Heading("Sources")
	sources.print(p)
	if c.Source != "" {
		p.Text(2, "The cluster itself: %s", c.Source)
	}
	if c.Notes != "" {
		p.Line("")
		p.Text(6, "Note: %s", c.Notes)
	}
	p.Line("")
	p.Line("`ridgeline gpus %s` shows the GPU.", d.Name)
}

func clusterFigures(c *hw.Cluster) []deviceFigure {
	d := c.Device
	return []deviceFigure{
		{"scale-up", "B/s", d.Peak.ScaleUp, d.Achieved.ScaleUp},
		{"between nodes", "B/s", c.Node.NIC, d.Achieved.NIC},
		{"latency between nodes", "s", c.Node.NICLatency, hw.Figure{}},
	}
}

func total(f hw.Figure, n int64, si string) string {
	if !f.Known() {
		return ""
	}
	f.Value *= float64(n)
	if si == "B" {
		return unit.FormatBytes(unit.Bytes(f.Value))
	}
	return formatFigure(f, si)
}

// given prints a number that a description may leave out as zero.
func given(v float64, what string) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + " " + what
}

// ClusterDoc is a cluster in JSON; values are SI, what was not given is left out.
type ClusterDoc struct {
	Name            string     `json:"name"`
	GPUs            int64      `json:"gpus"`
	Nodes           int64      `json:"nodes"`
	Node            NodeDoc    `json:"node"`
	PricePerGPUHour float64    `json:"price_usd_per_gpu_hour,omitempty"`
	GPUMTBF         float64    `json:"gpu_mtbf_seconds,omitempty"`
	PowerPerGPU     float64    `json:"power_watts_per_gpu,omitempty"`
	Source          string     `json:"source,omitempty"`
	Notes           string     `json:"notes,omitempty"`
	Device          *DeviceDoc `json:"device"`
}

// NewClusterDoc describes one cluster with its GPU.
func NewClusterDoc(c *hw.Cluster) *ClusterDoc {
	return &ClusterDoc{c.Name, c.GPUs, c.Nodes(), nodeDoc(&c.Node, &c.Fabric), c.PricePerGPUHour, float64(c.GPUMTBF), c.PowerPerGPU,
		c.Source, c.Notes, NewDeviceDoc(c.Device)}
}
