package catalog

import (
	"bytes"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/ridgeline/ridgeline/internal/hw"
)

// EncodeCluster writes a machine file that reads back as c: its device by name with
// the figures that differ from the catalogue's, or as a whole where the catalogue
// lacks it. kernelsFile names a file of kernel constants beside it; "" = none.
func EncodeCluster(c *hw.Cluster, kernelsFile string) ([]byte, error) {
	d := c.Device
	base, err := Device(d.Name)
	known := err == nil
	var doc mapping
	doc.add("name", c.Name)
	if known {
		doc.add("device", base.Name)
	} else {
		base = &hw.Device{DefaultNode: hw.NodeSpec{GPUs: 8}, DefaultFabric: hw.Fabric{Oversubscription: 1}, Kernels: Kernels(d.Arch)}
		var inline mapping
		inline.add("name", d.Name)
		inline.text("vendor", d.Vendor)
		inline.add("arch", d.Arch)
		inline.text("notes", d.Notes)
		if d.SMs > 0 {
			inline.add("sm_count", d.SMs)
		}
		if d.BoostHz > 0 {
			inline.add("boost_ghz", d.BoostHz/giga)
		}
		inline.figures("peak", peakQuantities(&d.Peak), peakQuantities(&hw.Peak{}))
		doc.add("device", &inline)
	}
	doc.add("gpus", c.GPUs)
	doc.text("source", c.Source)
	doc.text("notes", c.Notes)
	doc.node(c, base)
	if known {
		doc.figures("peak", peakQuantities(&d.Peak), peakQuantities(&base.Peak))
	}
	rescale(&base.Achieved, &base.Peak, &d.Peak) // as reading does under the peaks above
	doc.figures("achieved", achievedQuantities(&d.Achieved), achievedQuantities(&base.Achieved))
	doc.text("kernels_file", kernelsFile)
	doc.calibration(d.Kernels, base.Kernels)
	for key, v := range map[string]float64{"price_usd_per_gpu_hour": c.PricePerGPUHour, "gpu_mtbf_hours": float64(c.GPUMTBF) / 3600, "power_w_per_gpu": c.PowerPerGPU} {
		if v > 0 {
			doc.add(key, v)
		}
	}
	if doc.err != nil {
		return nil, doc.err
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(&doc.Node); err != nil {
		return nil, err
	}
	if _, err := readCluster("encoded", out.Bytes(), false); err != nil && kernelsFile == "" {
		return nil, fmt.Errorf("the machine cannot be described: %w", err)
	}
	return out.Bytes(), nil
}

// mapping is a YAML mapping whose keys keep their order.
type mapping struct {
	yaml.Node
	err error
}

func (m *mapping) add(key string, v any) {
	value := &yaml.Node{}
	if sub, ok := v.(*mapping); ok {
		value = &sub.Node
		m.err = first(m.err, sub.err)
	} else {
		m.err = first(m.err, value.Encode(v))
	}
	m.Kind, m.Tag = yaml.MappingNode, "!!map"
	m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
}

func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (m *mapping) text(key, s string) {
	if s != "" {
		m.add(key, s)
	}
}

// figures adds a block of the quantities that differ from the base's.
func (m *mapping) figures(block string, have, base []quantity) {
	var b mapping
	for i, q := range have {
		f := q.to
		if !f.Known() || *f == *base[i].to {
			continue
		}
		var one mapping
		one.add("value", digitsOf(f.Value/q.scale, 5))
		one.add("grade", f.Grade.String())
		one.add("source", f.Source)
		b.add(q.key, &one)
	}
	if len(b.Content) > 0 {
		m.add(block, &b)
	}
}

// node adds what differs from the device's usual node.
func (m *mapping) node(c *hw.Cluster, base *hw.Device) {
	var b mapping
	n, usual := &c.Node, &base.DefaultNode
	if n.GPUs != usual.GPUs {
		b.add("gpus", n.GPUs)
	}
	if n.ScaleUpKind != usual.ScaleUpKind {
		b.add("scale_up_kind", n.ScaleUpKind)
	}
	if n.NICKind != usual.NICKind {
		b.add("nic_kind", n.NICKind)
	}
	for _, q := range []struct {
		key        string
		scale      float64
		have, base hw.Figure
	}{{"nic_gb_per_s_per_gpu", giga, n.NIC, usual.NIC}, {"nic_latency_us", micro, n.NICLatency, usual.NICLatency}} {
		if q.have.Known() && q.have != q.base {
			var one mapping
			one.add("value", digitsOf(q.have.Value/q.scale, 5))
			one.add("grade", q.have.Grade.String())
			one.add("source", q.have.Source)
			b.add(q.key, &one)
		}
	}
	if n.SharedNIC != usual.SharedNIC {
		b.add("shared_nic", n.SharedNIC)
	}
	if len(b.Content) > 0 {
		m.add("node", &b)
	}
	var fabric mapping
	if c.Fabric.Rails != base.DefaultFabric.Rails {
		fabric.add("rails", c.Fabric.Rails)
	}
	if c.Fabric.Oversubscription != base.DefaultFabric.Oversubscription {
		fabric.add("oversubscription", c.Fabric.Oversubscription)
	}
	if len(fabric.Content) > 0 {
		m.add("fabric", &fabric)
	}
}

// calibration adds what calibration found about engines and lasting load.
func (m *mapping) calibration(k, base *hw.Kernels) {
	if k == nil {
		return
	}
	if base == nil {
		base = &hw.Kernels{}
	}
	if s := k.Sustained; s.Share > 0 && !s.Same(&base.Sustained) {
		var one mapping
		f := s.Figure()
		one.add("value", digitsOf(f.Value, 4))
		one.add("grade", f.Grade.String())
		one.add("source", f.Source)
		m.add("sustained_share", &one)
	}
	streams := yaml.Node{Kind: yaml.SequenceNode}
	for _, s := range k.Streams {
		var one mapping
		one.add("weights", s.Format.String())
		one.add("gb", digitsOf(s.Bytes/giga, 5))
		one.add("gb_per_s", digitsOf(s.Rate/giga, 4))
		one.Style = yaml.FlowStyle
		streams.Content = append(streams.Content, &one.Node)
	}
	if len(streams.Content) > 0 {
		m.add("streams", &streams)
	}
	ends := yaml.Node{Kind: yaml.SequenceNode}
	for _, e := range k.RowEnds {
		var one mapping
		one.add("weights", e.Format.String())
		one.add("ns", digitsOf(float64(e.Time)/nano, 4))
		one.Style = yaml.FlowStyle
		ends.Content = append(ends.Content, &one.Node)
	}
	if len(ends.Content) > 0 {
		m.add("row_ends", &ends)
	}
	var engines mapping
	for i := range k.Engines {
		e := &k.Engines[i]
		if !e.Host.Known() {
			continue
		}
		var b mapping
		b.add("source", e.Host.Source)
		if e.Host.Step > 0 {
			b.add("step_us", digitsOf(float64(e.Host.Step)/micro, 4))
		}
		if e.Host.Sequence > 0 {
			b.add("sequence_us", digitsOf(float64(e.Host.Sequence)/micro, 4))
		}
		if w := e.Host.Whole; w != nil {
			b.add("sustained_share", digitsOf(w.Sustained, 4))
			for _, c := range wholeTimes(w) {
				if *c.to > 0 {
					b.add(c.key, digitsOf(float64(*c.to)/micro, 4))
				}
			}
			for _, c := range wholeConstants(w) {
				if *c.to > 0 {
					b.add(c.key, digitsOf(*c.to, 4))
				}
			}
		}
		if e.Core > 0 {
			b.add("decode_core_gflops", digitsOf(e.Core/giga, 4))
		}
		rates := yaml.Node{Kind: yaml.SequenceNode}
		for _, r := range slices.Clone(e.Rows) {
			var one mapping
			one.add("weights", r.Format.String())
			one.add("rows", r.Rows)
			one.add("gflops", digitsOf(r.Rate/giga, 4))
			one.Style = yaml.FlowStyle
			rates.Content = append(rates.Content, &one.Node)
		}
		if len(rates.Content) > 0 {
			b.add("rates", &rates)
		}
		engines.add(e.Name, &b)
	}
	if len(engines.Content) > 0 {
		m.add("engines", &engines)
	}
}
