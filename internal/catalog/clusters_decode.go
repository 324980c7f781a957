package catalog

import (
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// ReadCluster decodes a cluster description in YAML, of which JSON is a part. file
// names it in errors and, where it states no name, in reports. Errors are one line
// that names the key and the mend.
func ReadCluster(file string, data []byte) (*hw.Cluster, error) {
	return readCluster(file, data, false)
}

// readCluster decodes a description; files tells whether it may name others, which
// only a description that lies in a file itself may.
func readCluster(file string, data []byte, files bool) (*hw.Cluster, error) {
	f, err := parseFields(file, data)
	if err != nil {
		return nil, err
	}
	f.files = files
	c := decodeCluster(f)
	f.done()
	if err := *f.err; err != nil {
		return nil, err
	}
	if c.Name == "" {
		c.Name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if strings.ContainsFunc(c.Name, invisible) {
			return nil, fmt.Errorf("%s: the file's name holds control characters: give the cluster a name", quote(file))
		}
	}
	if err := checkCluster(c); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// checkCluster holds a described cluster against its own peaks and against the
// rules of clusters.
func checkCluster(c *hw.Cluster) error {
	if err := checkRates(c.Device); err != nil {
		return err
	}
	if c.GPUs > c.Node.GPUs && c.Node.NIC.Known() && !c.Node.NICLatency.Known() {
		return fmt.Errorf("cluster %q spans nodes but no latency is known: set node.nic_kind or node.nic_latency_us", c.Name)
	}
	return c.Validate()
}

// decodeCluster reads the whole description.
func decodeCluster(f *fields) *hw.Cluster {
	source := f.text("source")
	own := origin{hw.Published, source}
	if source == "" {
		own = origin{hw.Assumed, "stated in " + filepath.Base(f.file)}
	}
	d := decodeClusterDevice(f, own)
	if !f.has("gpus") {
		f.fail(nil, "gpus", "is missing: give the number of GPUs")
	}
	c := defaultCluster(d, f.count("gpus", 1, MaxGPUs))
	c.Name, c.Source, c.Notes = f.label("name"), source, f.text("notes")
	decodeClusterNode(f.block("node"), c, own)
	fabric := f.block("fabric")
	c.Fabric.Rails = fabric.flag("rails", c.Fabric.Rails)
	if over, ok := fabric.number("oversubscription"); ok {
		c.Fabric.Oversubscription = over
	}
	fabric.done()
	overridePeak(f.block("peak"), d, own)
	decodeAchieved(f.block("achieved"), &d.Achieved, own)
	decodeCalibration(f, d)
	c.PricePerGPUHour, _ = f.number("price_usd_per_gpu_hour")
	if hours, ok := f.number("gpu_mtbf_hours"); ok {
		c.GPUMTBF = unit.Seconds(hours * 3600)
	}
	c.PowerPerGPU, _ = f.number("power_w_per_gpu")
	// What the device reached on its NIC and links now refers to this node.
	d.DefaultNode, d.DefaultFabric = c.Node, c.Fabric
	return c
}

// decodeClusterDevice reads device: a catalogue name or a whole description.
func decodeClusterDevice(f *fields, own origin) *hw.Device {
	n := f.take("device")
	switch {
	case n == nil:
		f.fail(nil, "device", "is missing: name one of `ridgeline gpus` or describe one")
	case n.Kind == yaml.MappingNode:
		return inlineDevice(f.sub(n, "device"), own)
	case n.Kind != yaml.ScalarNode || n.Tag != "!!str":
		f.fail(n, "device", "is %s: name one of `ridgeline gpus` or describe one", nodeKind(n))
	default:
		d, err := Device(n.Value)
		if err == nil {
			return d
		}
		f.fail(n, "device", "names an %s", err)
	}
	return &hw.Device{}
}

// inlineDevice reads a device that the catalogue lacks. Arch names the
// generation whose kernels it resembles.
func inlineDevice(b *fields, own origin) *hw.Device {
	d := &hw.Device{Name: b.label("name"), Vendor: b.label("vendor"), Arch: b.label("arch"), Notes: b.text("notes")}
	for _, key := range []string{"name", "arch", "peak"} {
		if !b.has(key) {
			b.fail(nil, key, "is missing: give it")
		}
	}
	d.SMs = b.count("sm_count", 0, 1<<16)
	d.Kernels = Kernels(d.Arch)
	if ghz, ok := b.number("boost_ghz"); ok {
		d.BoostHz = ghz * giga
	}
	d.DefaultNode = hw.NodeSpec{GPUs: 8}
	d.DefaultFabric = hw.Fabric{Oversubscription: 1}
	peak := b.block("peak")
	if !peak.has("memory_gb") || !peak.has("hbm_gb_per_s") {
		peak.fail(nil, "", "needs memory_gb and hbm_gb_per_s")
	}
	overridePeak(peak, d, own)
	decodeAchieved(b.block("achieved"), &d.Achieved, own)
	b.done()
	return d
}

// overridePeak replaces peaks of a device that the description knows better. What the
// catalogue's device achieved scales with them.
func overridePeak(b *fields, d *hw.Device, own origin) {
	if s := b.text("source"); s != "" {
		own.source = s
	}
	before := d.Peak
	newFP8 := b.has(matrixKeys[unit.FP8]) && !b.has(matrixKeys[unit.FP8Block])
	b.figures(peakQuantities(&d.Peak), origin{hw.Datasheet, own.source})
	if newFP8 {
		d.Peak.Matrix[unit.FP8Block] = d.Peak.Matrix[unit.FP8]
	}
	rescale(&d.Achieved, &before, &d.Peak)
	b.done()
}

// rescale keeps the shares of peak that a device achieved where its peaks turn from one
// datasheet's into another's. Attention multiplies in BF16.
func rescale(a *hw.Achieved, from, to *hw.Peak) {
	for f := range a.Matrix {
		a.Matrix[f] = share(a.Matrix[f], from.Matrix[f], to.Matrix[f])
	}
	for _, q := range []struct {
		achieved *hw.Figure
		from, to hw.Figure
	}{
		{&a.AttentionFwd, from.Matrix[unit.BF16], to.Matrix[unit.BF16]},
		{&a.AttentionBwd, from.Matrix[unit.BF16], to.Matrix[unit.BF16]},
		{&a.HBM, from.HBM, to.HBM},
		{&a.Memory, from.Memory, to.Memory},
		{&a.ScaleUp, from.ScaleUp, to.ScaleUp},
		{&a.ScaleUpReduce, from.ScaleUp, to.ScaleUp},
		{&a.HostLink, from.HostLink, to.HostLink},
	} {
		*q.achieved = share(*q.achieved, q.from, q.to)
	}
}

// decodeClusterNode reads the node. A link that differs from the device's usual
// one reaches the same share of its nominal rate, graded assumed, until the
// description states what it achieved: a rate measured on another link is no
// limit of this one.
func decodeClusterNode(b *fields, c *hw.Cluster, own origin) {
	n, d := &c.Node, c.Device
	n.GPUs = b.count("gpus", n.GPUs, maxDomain)
	if kind := b.word("scale_up_kind", scaleUpKinds); kind != "" {
		n.ScaleUpKind = kind
	}
	if b.has("scale_up_gb_per_s") {
		to := b.figure("scale_up_gb_per_s", giga, origin{hw.Datasheet, own.source})
		d.Achieved.ScaleUp = share(d.Achieved.ScaleUp, d.Peak.ScaleUp, to)
		d.Achieved.ScaleUpReduce = share(d.Achieved.ScaleUpReduce, d.Peak.ScaleUp, to)
		d.Peak.ScaleUp = to
	}
	if b.has("nic_gb_per_s_per_gpu") {
		to := b.figure("nic_gb_per_s_per_gpu", giga, origin{hw.Datasheet, own.source})
		d.Achieved.NIC = share(d.Achieved.NIC, n.NIC, to)
		n.NIC = to
	}
	if kind := b.word("nic_kind", nicKinds); kind != "" && kind != n.NICKind {
		n.NICKind, n.NICLatency = kind, nicLatency(kind)
	}
	if b.has("nic_latency_us") {
		n.NICLatency = b.figure("nic_latency_us", micro, own)
	}
	n.SharedNIC = b.flag("shared_nic", n.SharedNIC)
	b.done()
}

// share is what a device of nominal rate or size to reaches if it keeps the share that
// was measured on one of nominal figure from; absent where nothing was measured.
func share(measured, from, to hw.Figure) hw.Figure {
	if !measured.Known() || !from.Known() {
		return hw.Figure{}
	}
	if from.Value == to.Value {
		return measured
	}
	return hw.Figure{
		Value:  to.Value * measured.Value / from.Value,
		Grade:  hw.Assumed,
		Source: "the catalogue's share of the nominal figure (" + measured.Source + ")",
		Scaled: true,
	}
}
