package catalog

import (
	"github.com/ridgeline/ridgeline/internal/hw"
)

// maxDomain bounds the devices of one scale-up domain; the largest known is a
// TPU v7 pod of 9,216 chips.
const maxDomain = 1 << 16

// The links that the catalogue and cluster files may name.
var (
	scaleUpKinds = []string{"nvlink", "infinity-fabric", "pcie", "ici", "neuronlink", "hccs", "ub", "roce", "xgmi", "mlu-link", "mtlink", "xpu-link"}
	nicKinds     = []string{"infiniband", "roce", "efa", "ethernet", "slingshot"}
)

// nicLatency is the one-way time of a small message across the fabric for a
// kind of NIC, as planning takes it where an entry states none.
func nicLatency(kind string) hw.Figure {
	switch kind {
	case "":
		return hw.Figure{}
	case "infiniband":
		return hw.Figure{Value: 3.7 * micro, Grade: hw.Measured, Source: "arXiv:2505.09343 (64 bytes, InfiniBand across leaf and spine)"}
	case "roce":
		return hw.Figure{Value: 5.6 * micro, Grade: hw.Measured, Source: "arXiv:2505.09343 (64 bytes, RoCE across leaf and spine)"}
	case "efa":
		return hw.Figure{Value: 21.3 * micro, Grade: hw.Assumed, Source: "half of what a second node adds to a small all-reduce, 55.5 - 12.9 us: Hugging Face, The Smol Training Playbook (2025)"}
	}
	return hw.Figure{Value: 5.6 * micro, Grade: hw.Assumed, Source: "taken as RoCE's across leaf and spine, arXiv:2505.09343"}
}

// decodeDevice reads a whole device entry.
func decodeDevice(f *fields) *hw.Device {
	d := &hw.Device{Name: f.label("name"), Vendor: f.label("vendor"), Arch: f.label("arch"), Notes: f.text("notes")}
	for _, key := range []string{"name", "arch"} {
		if !f.has(key) {
			f.fail(nil, key, "is missing: give it")
		}
	}
	for _, n := range f.list("aliases") {
		d.Aliases = append(d.Aliases, n.Value)
	}
	d.SMs = f.count("sm_count", 0, 1<<16)
	d.Kernels = Kernels(d.Arch)
	if ghz, ok := f.number("boost_ghz"); ok {
		d.BoostHz = ghz * giga
	}
	decodePeak(f.block("peak"), &d.Peak)
	decodeAchieved(f.block("achieved"), &d.Achieved, origin{grade: hw.Measured})
	d.Others = f.readings("others")
	decodeNode(f.block("node"), d)
	return d
}

// decodePeak reads the datasheet block. Block-scaled FP8 runs on the FP8
// multipliers at their rate, so it needs no key of its own.
func decodePeak(b *fields, p *hw.Peak) {
	c := b.word("confidence", []string{"datasheet", "repository", "secondary"})
	p.Confidence, _ = hw.ParseConfidence(c)
	b.figures(peakQuantities(p), origin{hw.Datasheet, b.text("source")})
	fillBlockFP8(p)
	b.done()
}

// decodeAchieved reads the block of measured figures.
func decodeAchieved(b *fields, a *hw.Achieved, inherit origin) {
	if s := b.text("source"); s != "" {
		inherit.source = s
	}
	b.figures(achievedQuantities(a), inherit)
	b.done()
}

// decodeNode reads the node that a bare device name stands for. NIC rates are
// per GPU and direction; a shared NIC is given already divided.
func decodeNode(b *fields, d *hw.Device) {
	n := &d.DefaultNode
	n.GPUs = b.count("gpus", 8, maxDomain)
	n.ScaleUpKind = b.word("scale_up_kind", scaleUpKinds)
	n.NIC = b.figure("nic_gb_per_s_per_gpu", giga, origin{grade: hw.Datasheet})
	n.NICKind = b.word("nic_kind", nicKinds)
	n.NICLatency = nicLatency(n.NICKind)
	if b.has("nic_latency_us") {
		n.NICLatency = b.figure("nic_latency_us", micro, origin{grade: hw.Published})
	}
	n.SharedNIC = b.flag("shared_nic", false)
	d.DefaultFabric = hw.Fabric{Oversubscription: 1, Rails: b.flag("rails", false)}
	b.done()
}
