package tune

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// large is the size from which a collective shows its bandwidth rather than its
// latency, bytes.
const large = 64 << 20

// achieved turns the results of one record that measure figures of the machine into
// them: of several for one figure the best median, since planning reads what software
// can reach.
func (o *Outcome) achieved(rec *record.Record, in *Input) {
	best := map[string]*record.Result{}
	for i := range rec.Results {
		r := &rec.Results[i]
		key, why := o.figureOf(r)
		if r.Device == "cpu" && r.Threads > 0 && (in.Base == nil || r.Threads != max(in.Threads, 1)) {
			key, why = "", fmt.Sprintf("of %d threads: the machine's figures are of %d", r.Threads, max(in.Threads, 1))
		}
		switch {
		case key != "":
			if b := best[key]; b == nil || better(r, b) {
				best[key] = r
			}
		case in.Base == nil && r.Device == "cpu" && (r.Kind == record.Memory || r.Kind == record.GEMM): // o.cpu took them
		default:
			o.unused(rec, r, why)
		}
	}
	figures := o.figures()
	for _, key := range slices.Sorted(maps.Keys(best)) {
		f, r := figures[key], best[key]
		v := amount(r)
		if most, ok := f.ceiling(); ok && v > most {
			o.unused(rec, r, fmt.Sprintf("%.4g is above the peak of %.4g: correct the machine's peak first", v, most))
			continue
		}
		o.set(key, f.at, v, fmt.Sprintf("%s: %s %s %s", rec.Tool, r.What, r.Kernel, r.Data))
	}
}

// better tells the result that planning should read: the larger rate, the shorter time.
func better(a, b *record.Result) bool {
	if a.Kind == record.Network && a.What == "latency" {
		return a.Value < b.Value
	}
	return amount(a) > amount(b)
}

// target is a figure and the peak that bounds it.
type target struct {
	at, peak *hw.Figure
}

func (t target) ceiling() (float64, bool) {
	if t.peak == nil || !t.peak.Known() {
		return 0, false
	}
	return t.peak.Value * 1.0000001, true
}

// figures are the machine's that records measure, by key of the machine file.
func (o *Outcome) figures() map[string]target {
	d, n := o.Machine.Device, &o.Machine.Node
	a, p := &d.Achieved, &d.Peak
	out := map[string]target{
		"achieved.hbm_gb_per_s":             {&a.HBM, &p.HBM},
		"achieved.scale_up_gb_per_s":        {&a.ScaleUp, &p.ScaleUp},
		"achieved.scale_up_reduce_gb_per_s": {&a.ScaleUpReduce, nil},
		"achieved.host_link_gb_per_s":       {&a.HostLink, &p.HostLink},
		"achieved.nic_gb_per_s":             {&a.NIC, &n.NIC},
		"node.nic_latency_us":               {&n.NICLatency, nil},
	}
	for f := range unit.NumFormats {
		out[matrixKey(f)] = target{&a.Matrix[f], &p.Matrix[f]}
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
	case r.Kind == record.Collective && r.Bytes < large:
		return "", "a small message shows latency, which kernel tables calibrate"
	case r.Kind == record.Collective && r.Nodes > 1:
		return "", "of several nodes: links inside and between them mix"
	case r.Kind == record.Collective && r.What == "all-reduce" && r.Ranks > 1:
		return "achieved.scale_up_reduce_gb_per_s", ""
	case r.Kind == record.Collective && (r.What == "all-gather" || r.What == "reduce-scatter") && r.Ranks > 1:
		return "achieved.scale_up_gb_per_s", ""
	case r.Kind == record.Network && r.What == "bandwidth" && r.Kernel == "RDMA":
		return "achieved.nic_gb_per_s", ""
	case r.Kind == record.Network && r.What == "latency" && r.Kernel == "RDMA":
		return "node.nic_latency_us", ""
	case r.Kind == record.Training:
		return "", "a step tells figures only with its job: give the log with --training MODEL=LOG"
	}
	return "", "no figure of a machine is of this kind"
}

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
