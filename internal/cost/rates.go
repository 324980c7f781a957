package cost

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Usual ratios of achieved to datasheet rate, used only where neither a device nor a
// sibling of like design (hw.Relate) was measured, and then listed as an assumption.
const (
	// usualMatrix is the best BF16 GEMM over peak, the median of 0.87 (A100),
	// 0.80 (H100), 0.84 (GH200), 0.78 (B200), 0.73 (GB200), 0.51 (MI300X),
	// 0.60 (MI325X), 0.68 (MI355X): stas00/ml-engineering:compute/accelerator/README.md.
	usualMatrix = 0.755
	// usualHBM is streaming bandwidth over peak, the middle of 0.80-0.92: nvbandwidth
	// and BabelStream on A100, H100, H200 (Azure/AI-benchmarking-guide).
	usualHBM = 0.87
	// usualScaleUp is a ring's rate over the link's one direction: H200 365/450
	// (0.81), A100 235/300 (0.78), H800 160/200 (0.80):
	// stas00/ml-engineering:network/README.md, deepseek-ai/DeepEP:docs/legacy.md.
	usualScaleUp = 0.80
	// usualNIC is the rate between two nodes over the NICs' sum, the median of 0.85
	// (H100 EFA, The Smol Training Playbook), 0.91 (H200), 0.97 (H100), 0.98 (B300)
	// (kvcache-ai/Mooncake efa_transport.md) and 0.95 (B200, 381.8/8 of 50 GB/s,
	// stas00/ml-engineering:network/README.md).
	usualNIC = 0.95
	// usualAttention is fused attention over the achieved GEMM rate: 660 of 758
	// TFLOP/s on the H800 (deepseek-ai/FlashMLA:README.md).
	usualAttention = 0.87
	// usualBackward is attention's backward over its forward rate: 1000 of 1460
	// TFLOP/s on the B200 (deepseek-ai/FlashMLA:README.md).
	usualBackward = 0.68
	// usualNICLatency is 64 bytes over InfiniBand across leaf and spine, one way,
	// arXiv:2505.09343 section 2.
	usualNICLatency = 3.7e-6
)

// usualLinks stand in where no constants are known.
var usualLinks = hw.Links{Start: 5e-6, Hop: 0.8e-6, Pair: 6.5e-6, Chunk: 2e-6, Own: 0.3}

// resolve fills the machine's rates from the device and the node.
func (m *Machine) resolve() error {
	d := m.cluster.Device
	m.resolveMatrix(d)
	if m.matrix[unit.BF16] == 0 && m.matrix[unit.FP16] == 0 {
		return fmt.Errorf("device %s has neither a BF16 nor an FP16 matrix rate: set peak figures in its catalogue entry", d.Name)
	}
	var err error
	if m.hbm, err = m.rate("HBM", d.Achieved.HBM, d.Peak.HBM, cmp.Or(d.Siblings.HBM, usualHBM)); err != nil {
		return err
	}
	k := m.resolveKernels(d)
	if m.cluster.Node.GPUs > 1 && m.cluster.GPUs > 1 {
		if m.scaleUp, err = m.rate("scale-up link", d.Achieved.ScaleUp, d.Peak.ScaleUp, cmp.Or(d.Siblings.ScaleUp, usualScaleUp)); err != nil {
			return err
		}
		if busbw := reduceRate(d); busbw > 0 && !m.options.UsePeak {
			// busbw of n ranks is 2(n-1)/n times the tensor's rate (nccl-tests)
			n := float64(max(d.DefaultNode.GPUs, 2))
			m.reduce = busbw * n / (2 * (n - 1))
		}
	}
	if m.cluster.Nodes() > 1 {
		m.resolveNIC(d)
	}
	m.resolveLinks(d, k)
	return nil
}

// reduceRate is the bus bandwidth of a large all-reduce in one domain, the siblings' share
// of the link's rate where the device's own was not measured; 0 = no such switch known.
func reduceRate(d *hw.Device) float64 {
	if d.Achieved.ScaleUpReduce.Known() {
		return d.Achieved.ScaleUpReduce.Value
	}
	return d.Siblings.Reduce * d.Peak.ScaleUp.Value
}

// rate is the achieved figure, or the peak times its usual ratio.
func (m *Machine) rate(what string, achieved, peak hw.Figure, usual float64) (float64, error) {
	d := m.cluster.Device
	assume := func(share float64) { m.assumptions = append(m.assumptions, RateAssumed(what, d.Name, share)) }
	switch {
	case m.options.UsePeak && peak.Known():
		return peak.Value, nil
	case achieved.Known():
		if achieved.Scaled && peak.Known() {
			assume(achieved.Value / peak.Value)
		}
		return achieved.Value, nil
	case peak.Known():
		assume(usual)
		return peak.Value * usual, nil
	}
	return 0, fmt.Errorf("device %s has no %s rate: add it to its catalogue entry", d.Name, what)
}

// RateAssumed says that a figure of a device, what in words, was taken for a share of its datasheet's.
func RateAssumed(what, device string, share float64) note.Note {
	return note.New(note.RateAssumed, "what device share", "%s of %s: not measured, %.2f of its datasheet figure assumed", what, device, share)
}

// related names the format whose rate a format without its own measurement has:
// block-scaled formats run on the units of the plain one, and 16-bit formats on
// the same units.
var related = map[unit.Format]unit.Format{
	unit.FP16: unit.BF16, unit.FP8Block: unit.FP8, unit.MXFP8: unit.FP8, unit.MXFP4: unit.NVFP4,
}

// resolveMatrix fills the rates of the largest products.
func (m *Machine) resolveMatrix(d *hw.Device) {
	usual, half := cmp.Or(d.Siblings.Matrix[unit.BF16], d.Siblings.Matrix[unit.FP16], usualMatrix), 0.0
	for _, f := range [...]unit.Format{unit.FP16, unit.BF16} { // the latter decides
		if a, p := d.Achieved.Matrix[f], d.Peak.Matrix[f]; a.Known() && p.Known() {
			usual, half = a.Value/p.Value, a.Value
		}
	}
	guessed := map[float64][]string{} // formats by the share assumed of them
	for f := range unit.NumFormats {
		a, p := d.Achieved.Matrix[f], d.Peak.Matrix[f]
		of, ok := related[f]
		like := d.Achieved.Matrix[of]
		switch {
		case m.options.UsePeak && p.Known():
			m.matrix[f] = p.Value
		case a.Known():
			m.matrix[f] = a.Value
			if a.Scaled && p.Known() {
				guessed[a.Value/p.Value] = append(guessed[a.Value/p.Value], f.String())
			}
		case p.Known() && ok && like.Known() && like.Value <= p.Value:
			m.matrix[f] = like.Value
		case p.Known() && f == unit.BF16 && half > 0: // the units of FP16
			m.matrix[f] = min(half, p.Value)
		case p.Known():
			share := cmp.Or(d.Siblings.Matrix[f], usual)
			m.matrix[f] = p.Value * share
			guessed[share] = append(guessed[share], f.String())
		}
	}
	for _, share := range slices.Sorted(maps.Keys(guessed)) {
		m.assume(note.GEMMAssumed, "device formats share", "GEMM of %s in %s: not measured, %.2f of the datasheet figure assumed", d.Name, strings.Join(guessed[share], ", "), share)
	}
	for f, of := range related { // a format the datasheet leaves out
		if m.matrix[f] == 0 {
			m.matrix[f] = m.matrix[of]
		}
	}
	if m.matrix[unit.FP32] == 0 { // FP32 products run as TF32 in training
		m.matrix[unit.FP32] = m.matrix[unit.TF32]
	}
}

// resolveNIC takes what the NIC achieved, never more than the node's own has.
func (m *Machine) resolveNIC(d *hw.Device) {
	n := m.cluster.Node
	m.nicLat, m.nic = n.NICLatency.Value, n.NIC.Value
	switch a := d.Achieved.NIC; {
	case m.options.UsePeak:
	case a.Known():
		m.nic = min(m.nic, a.Value)
	default:
		m.nic *= usualNIC
		m.assume(note.NICAssumed, "cluster share", "network of %s: not measured, %.2f of the NIC's nominal rate assumed", m.cluster.Name, usualNIC)
	}
	if m.nicLat == 0 {
		m.nicLat = usualNICLatency
		m.assumptions = append(m.assumptions, note.New(note.NICLatencyAssumed, "cluster", "fabric latency of %s: not measured, %.1f us assumed", m.cluster.Name, 1e6*usualNICLatency).With("seconds", usualNICLatency))
	}
	m.crossing = m.nicLat + networkHop
	if n.NICKind == "efa" {
		m.crossing = efaHop
	}
	m.rails = m.cluster.Fabric.Rails
	m.uplink = m.nic / m.cluster.Fabric.Oversubscription
}

// resolveLinks takes the generation's latencies, or the usual ones of the link.
func (m *Machine) resolveLinks(d *hw.Device, k *hw.Kernels) {
	m.links = k.Links
	if m.overPCIe() {
		m.links = m.staged().Links
		if m.scaleUp > 0 {
			m.assume(note.LinksOfPCIe, "device", "collective latencies of %s: not measured, those of two RTX PRO 6000 over PCIe assumed", d.Name)
		}
		return
	}
	if !k.Links.Fitted() && m.scaleUp+m.nic > 0 {
		m.links = usualLinks
		m.assume(note.LinksOfHopper, "device", "collective latencies of %s: not measured, those of Hopper assumed", d.Name)
	}
}

func (m *Machine) assume(c note.Code, keys, format string, args ...any) {
	m.assumptions = append(m.assumptions, note.New(c, keys, format, args...))
}

// resolveKernels multiplies the generation's constants with the device's rates.
func (m *Machine) resolveKernels(d *hw.Device) *hw.Kernels {
	k := d.Kernels
	m.pessimism = pessimism
	switch {
	case k == nil:
		k, m.pessimism = &hw.Kernels{}, doubt
		m.assume(note.NoKernels, "device arch", "kernels of %s: no constants for %s, plain roofline", d.Name, d.Arch)
	case len(k.Devices) == 0:
		m.assume(note.MeanKernels, "device", "kernels of %s: not measured, the means of the measured generations assumed", d.Name)
	case !slices.Contains(k.Devices, d.Name):
		m.assume(note.KernelsOf, "device arch", "kernels of %s: not measured, those of %s assumed", d.Name, k.Arch)
	}
	if len(k.Devices) == 0 {
		m.pessimism = doubt
	}
	m.timed = len(k.Devices) > 0
	m.sms = max(float64(d.SMs), 1)
	m.pipes = pipes(d, k)
	if m.vector = k.Vector; m.vector {
		m.resolveRows(k)
	}
	m.peakHalf, m.peakHBM, m.peakScaleUp = d.Peak.Matrix[unit.BF16].Value, d.Peak.HBM.Value, d.Peak.ScaleUp.Value
	for f := range unit.NumFormats {
		m.peakMatrix[f] = d.Peak.Matrix[f].Value
	}
	for f := range unit.NumFormats {
		m.resolveGEMM(f, shape(k, f))
	}
	m.resolveAttention(d, k)
	m.resolveEngine(d, k)
	return k
}
