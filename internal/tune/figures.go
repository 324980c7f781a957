package tune

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// target is a figure and what bounds it: times its peak.
type target struct {
	at, peak *hw.Figure
	times    float64
}

func (t target) ceiling() (float64, bool) {
	if t.peak == nil || !t.peak.Known() {
		return 0, false
	}
	return t.peak.Value * t.times, true
}

// figures are the machine's that records measure, by key of the machine file.
func (o *Outcome) figures() map[string]target {
	d, n := o.Machine.Device, &o.Machine.Node
	a, p := &d.Achieved, &d.Peak
	out := map[string]target{
		"achieved.hbm_gb_per_s":             {&a.HBM, &p.HBM, 1},
		"achieved.scale_up_gb_per_s":        {&a.ScaleUp, &p.ScaleUp, 1},
		"achieved.scale_up_reduce_gb_per_s": {&a.ScaleUpReduce, &p.ScaleUp, hw.SwitchSums},
		"achieved.host_link_gb_per_s":       {&a.HostLink, &p.HostLink, 1},
		"achieved.nic_gb_per_s":             {&a.NIC, &n.NIC, 1},
		"node.nic_latency_us":               {&n.NICLatency, nil, 0},
	}
	for f := range unit.NumFormats {
		out[matrixKey(f)] = target{&a.Matrix[f], &p.Matrix[f], 1}
	}
	return out
}

// matrixKey is the key of a format's matrix rate in a machine file.
func matrixKey(f unit.Format) string {
	of := "_tflops"
	if strings.HasPrefix(f.String(), "int") {
		of = "_tops"
	}
	return "achieved." + strings.ReplaceAll(f.String(), "-", "_") + of
}

// figureOf is the key of the figure that a result measures, or why there is none.
func (o *Outcome) figureOf(r *record.Result) (key, why string) {
	cpu := o.Machine.Device.Arch == hw.CPUArch
	switch {
	case r.Device == "cpu" && !cpu:
		return "", "of the host's CPU: the machine's device is " + o.Machine.Device.Name
	case r.What == record.GEMV:
		return "", "of one format's kernel on one working set: only a machine made of the probe takes it"
	case r.Kind == record.Memory || r.Kind == record.Copy && r.What == "device":
		return "achieved.hbm_gb_per_s", ""
	case r.Kind == record.GEMM && r.Data == "zeros":
		return "", "zeros draw less power than weights do and flatter the rate"
	case r.Kind == record.GEMM:
		if f, ok := unit.ParseFormat(r.Format); ok {
			return matrixKey(f), ""
		}
	case r.Kind == record.Copy && r.What == "device-to-device":
		return "achieved.scale_up_gb_per_s", ""
	case r.Kind == record.Copy && (r.What == "host-to-device" || r.What == "device-to-host"):
		return "achieved.host_link_gb_per_s", ""
	case r.Kind == record.Collective && r.Ranks < 2:
		return "", "between fewer than two ranks, or its text does not say how many: run it on the GPUs of one node and keep the header"
	case r.Kind == record.Collective && r.Nodes > 1:
		return "", fmt.Sprintf("of %d nodes, where links inside and between them mix: run it inside one node", r.Nodes)
	case r.Kind == record.Collective && r.Bytes < large:
		return "", fmt.Sprintf("a message below %d MiB shows latency, which kernel tables calibrate", large>>20)
	case r.Kind == record.Collective && r.What == "all-reduce":
		return "achieved.scale_up_reduce_gb_per_s", ""
	case r.Kind == record.Collective && (r.What == "all-gather" || r.What == "reduce-scatter"):
		return "achieved.scale_up_gb_per_s", ""
	case r.Kind == record.Collective:
		return "", "only all-reduce, all-gather and reduce-scatter set figures"
	case r.Kind == record.Network && r.What == "bandwidth" && r.Kernel == "RDMA":
		return "achieved.nic_gb_per_s", ""
	case r.Kind == record.Network && r.What == "latency" && r.Kernel == "RDMA":
		return "node.nic_latency_us", ""
	case r.Kind == record.Training:
		return "", "a step tells figures only with its job: give the log with --training MODEL=LOG"
	}
	return "", "no figure of a machine is of this kind"
}

// large is the size from which a collective shows its bandwidth rather than its
// latency, bytes.
const large = 64 << 20

// amount is the result in the figure's terms: collectives as bus bandwidth, as
// nccl-tests defines it (PERFORMANCE.md).
func amount(r *record.Result) float64 {
	if r.Kind != record.Collective {
		return r.Value
	}
	n := float64(r.Ranks)
	moved := float64(r.Bytes) * (n - 1) / n
	if r.What == "all-reduce" {
		moved *= 2
	}
	return moved / r.Value
}

// inUnit words a figure in the unit that its key spells.
func inUnit(key string, v float64) string {
	name, si := catalog.KeyUnit(key)
	return strings.TrimSpace(fmt.Sprintf("%.4g %s", v/si, name))
}
