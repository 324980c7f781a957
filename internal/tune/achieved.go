package tune

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// large is the size from which a collective shows its bandwidth rather than its
// latency, bytes.
const large = 64 << 20

// measured is a result and the record that it is of.
type measured struct {
	rec *record.Record
	r   *record.Result
}

// achieved turns the results of the records that measure figures of the machine into
// them: of several for one figure the best median, since planning reads what software
// can reach. A result that sets none is unused with the reason.
func (o *Outcome) achieved(in *Input) {
	best, figures := map[string]measured{}, o.figures()
	for _, rec := range in.Records {
		for _, n := range rec.Notes {
			o.Notes = append(o.Notes, rec.Source+": "+n)
		}
		if rec.Partial {
			o.Notes = append(o.Notes, rec.Source+": the measurement was interrupted, and what it had not measured stays as it was")
		}
		for i := range rec.Results {
			r := &rec.Results[i]
			if o.madeOf[r] {
				continue
			}
			key, why := o.taken(rec, r, in, figures)
			switch b, ok := best[key]; {
			case key == "":
				o.unused(rec, r, why)
			case !ok:
				best[key] = measured{rec, r}
			case better(r, b.r):
				best[key] = measured{rec, r}
				o.unused(b.rec, b.r, "another is better: "+inUnit(key, amount(r)))
			default:
				o.unused(rec, r, "another is as good or better: "+inUnit(key, amount(b.r)))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(best)) {
		b := best[key]
		source := fmt.Sprintf("%s: %s %s %s", b.rec.Tool, b.r.What, b.r.Kernel, b.r.Data)
		o.set(key, figures[key].at, amount(b.r), strings.Join(strings.Fields(source), " "))
	}
}

// leastOfPeak is the share of its peak below which a rate is in another unit, or of
// another machine: the slowest kernels of the shared tables reach more.
const leastOfPeak = 0.01

// taken is the key of the figure that a result sets, or why it sets none.
func (o *Outcome) taken(rec *record.Record, r *record.Result, in *Input, figures map[string]target) (key, why string) {
	if other := o.otherGPU(rec); other != "" && r.Device != "cpu" {
		return "", fmt.Sprintf("measured on %s: the machine's GPU is %s; name the right one with --cluster", other, o.Machine.Device.Name)
	}
	if other := o.otherCPU(r, in); other != "" {
		return "", other
	}
	if key, why = o.figureOf(r); key == "" {
		return "", why
	}
	v := amount(r)
	switch most, ok := figures[key].ceiling(); {
	case ok && v > most:
		return "", fmt.Sprintf("%s is above the peak of %s: correct the machine's peak first", inUnit(key, v), inUnit(key, most))
	case ok && v < leastOfPeak*most:
		return "", fmt.Sprintf("%s is below a hundredth of the peak of %s: correct its unit, or measure again", inUnit(key, v), inUnit(key, most))
	}
	return key, ""
}

// otherGPU is the GPU that a record names, where that is of another family of the catalogue
// than the machine's; "" where it is not, or either is unknown.
func (o *Outcome) otherGPU(rec *record.Record) string {
	family := func(d *hw.Device) string { f, _, _ := strings.Cut(d.Name, "-"); return f }
	own, known := family(o.Machine.Device), false
	var all []string
	for _, d := range catalog.Devices() {
		all = append(all, family(d))
		known = known || family(d) == own
	}
	for _, gpu := range rec.Machine.GPUs {
		name := strings.ToLower(gpu)
		named := func(f string) bool { return strings.Contains(name, f) }
		if known && !named(own) && slices.ContainsFunc(all, named) {
			return gpu
		}
	}
	return ""
}

// inUnit words a figure in the unit that its key spells.
func inUnit(key string, v float64) string {
	name, si := catalog.KeyUnit(key)
	return strings.TrimSpace(fmt.Sprintf("%.4g %s", v/si, name))
}

// otherCPU is why a result of a CPU is not the machine's, "" where it may be.
func (o *Outcome) otherCPU(r *record.Result, in *Input) string {
	threads := max(in.Threads, 1)
	switch {
	case r.Device != "cpu" || r.Threads == 0:
		return ""
	case r.Threads != threads:
		return fmt.Sprintf("of %d threads: the machine's figures are of %d", r.Threads, threads)
	case in.Base == nil:
		return "the machine is made of another result like it"
	}
	return ""
}

// better tells the result that planning should read: the larger rate, the shorter time.
func better(a, b *record.Result) bool {
	if a.Kind == record.Network && a.What == "latency" {
		return a.Value < b.Value
	}
	return amount(a) > amount(b)
}

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
