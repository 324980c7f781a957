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

// cpu makes a machine of one host's probes: its memory, and the rates of as many
// threads as the engine takes; of several for one figure the best, since others on the
// machine can only slow them. What a CPU can do at most nobody states per thread, so
// the measured rates stand in for the peaks too, and say so.
func (o *Outcome) cpu(in *Input) error {
	threads := max(in.Threads, 1)
	read, triad, gemm := find(in, record.Memory, "read", threads), find(in, record.Memory, "triad", threads), find(in, record.GEMM, "gemm", threads)
	fastest := read
	if triad.r != nil && (read.r == nil || triad.r.Value >= read.r.Value) {
		fastest = triad
	}
	if fastest.r == nil || gemm.r == nil {
		return fmt.Errorf("no record measures memory and products of the CPU with %d threads: run `ridgeline probe --threads %d --out cpu.json` and give it, or name the machine with --cluster", threads, threads)
	}
	rec := gemm.rec
	if rec.Machine.MemoryBytes <= 0 {
		return fmt.Errorf("%s: the record does not say how much memory the machine has: give --cluster with a file that does", rec.Source)
	}
	if other := fastest.rec; other.Machine.Host != rec.Machine.Host {
		return fmt.Errorf("%s is of %s and %s of %s: give records of one machine", other.Source, other.Machine.Host, rec.Source, rec.Machine.Host)
	}
	d := &hw.Device{Name: cpuName(rec), Vendor: vendor(rec.Machine.CPU), Arch: hw.CPUArch, Kernels: catalog.Kernels(hw.CPUArch),
		Notes: fmt.Sprintf("%d of %d cores; peaks are what was measured", threads, rec.Machine.Cores)}
	d.Peak.Memory = hw.Figure{Value: float64(rec.Machine.MemoryBytes), Grade: hw.Datasheet, Source: "the system's own count"}
	measured := func(m measured) hw.Figure {
		return hw.Figure{Value: m.r.Value, Grade: hw.Measured, Source: fmt.Sprintf("%s, %s, %d threads, %d repeats, spread %.0f %%", m.rec.Tool, m.r.Kernel, threads, m.r.Repeats, 100*m.r.Spread)}
	}
	d.Achieved.HBM = measured(fastest)
	product := measured(gemm)
	d.Achieved.Matrix[unit.FP32] = product
	for _, f := range [...]unit.Format{unit.FP16, unit.BF16} {
		d.Achieved.Matrix[f] = hw.Figure{Value: product.Value, Grade: hw.Assumed, Source: "widened to FP32: " + product.Source}
	}
	o.streams(d, in, threads)
	o.rowEnds(d, in, threads)
	peaks(d)
	o.Machine = &hw.Cluster{Name: d.Name, Device: d, GPUs: 1, Node: hw.NodeSpec{GPUs: 1}, Fabric: hw.Fabric{Oversubscription: 1}, Source: "ridgeline calibrate"}
	if r := fastest.r; r.CPUShare > 0 && r.CPUShare < 0.9 {
		o.Notes = append(o.Notes, fmt.Sprintf("%s: others took %.0f %% of the probe's time: measure again on a quiet machine", fastest.rec.Source, 100*(1-r.CPUShare)))
	}
	o.madeOf[fastest.r], o.madeOf[gemm.r] = true, true
	o.change("achieved.hbm_gb_per_s", hw.Figure{}, fastest.r.Value, d.Achieved.HBM.Source)
	o.change("achieved.fp32_tflops", hw.Figure{}, gemm.r.Value, product.Source)
	return nil
}

// streams takes what products of one row reach, by format and working set: the best
// repeat, since others on the machine, who share the cache, can only slow them.
func (o *Outcome) streams(d *hw.Device, in *Input, threads int) {
	k := *d.Kernels
	k.Streams = nil
	for _, rec := range in.Records {
		for i := range rec.Results {
			r := &rec.Results[i]
			f, ok := unit.ParseFormat(r.Format)
			if !ok || r.Device != "cpu" || r.What != record.GEMV || r.Threads != threads {
				continue
			}
			o.madeOf[r] = true
			s := hw.Stream{Format: f, Bytes: float64(r.Bytes), Rate: max(r.Best, r.Value)}
			at := slices.IndexFunc(k.Streams, func(x hw.Stream) bool { return x.Format == s.Format && x.Bytes == s.Bytes })
			if at < 0 {
				at, k.Streams = len(k.Streams), append(k.Streams, s)
			}
			k.Streams[at].Rate = max(k.Streams[at].Rate, s.Rate)
		}
	}
	d.Kernels = &k
}

// rowEnds takes what the end of a row takes, by format: the time of a short row is longer than
// its share of a long one's by that, less its share of it.
func (o *Outcome) rowEnds(d *hw.Device, in *Input, threads int) {
	k := *d.Kernels
	k.RowEnds = nil
	best := map[unit.Format]map[int64]float64{} // rate by columns
	for _, rec := range in.Records {
		for i := range rec.Results {
			r := &rec.Results[i]
			f, ok := unit.ParseFormat(r.Format)
			if !ok || r.Device != "cpu" || r.What != record.ShortGEMV || r.Threads != threads || r.K <= 0 {
				continue
			}
			o.madeOf[r] = true
			if best[f] == nil {
				best[f] = map[int64]float64{}
			}
			best[f][r.K] = max(best[f][r.K], r.Best, r.Value)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(best)) {
		columns := slices.Sorted(maps.Keys(best[f]))
		short, long := columns[0], columns[len(columns)-1]
		seconds := func(k int64) float64 { return float64(f.Size(k)) / best[f][k] }
		if share := float64(short) / float64(long); share < 1 {
			if end := (seconds(short) - share*seconds(long)) / (1 - share); end > 0 {
				k.RowEnds = append(k.RowEnds, hw.RowEnd{Format: f, Time: unit.Seconds(end)})
			}
		}
	}
	d.Kernels = &k
}

// peaks makes achieved rates the peaks where a device has none of its own.
func peaks(d *hw.Device) {
	raise := func(peak *hw.Figure, achieved hw.Figure) {
		if achieved.Known() && achieved.Value > peak.Value {
			*peak = hw.Figure{Value: achieved.Value, Grade: achieved.Grade, Source: achieved.Source + ", in place of a peak that nobody states"}
		}
	}
	for f := range d.Achieved.Matrix {
		raise(&d.Peak.Matrix[f], d.Achieved.Matrix[f])
	}
	raise(&d.Peak.HBM, d.Achieved.HBM)
	raise(&d.Peak.Matrix[unit.BF16], d.Achieved.AttentionFwd)
}

func cpuName(rec *record.Record) string {
	if rec.Machine.Host != "" {
		return "cpu-" + strings.ToLower(rec.Machine.Host)
	}
	return "cpu"
}

func vendor(cpu string) string {
	for _, v := range []string{"AMD", "Intel", "Ampere", "Apple", "IBM"} {
		if strings.Contains(cpu, v) {
			return strings.ToLower(v)
		}
	}
	return ""
}

// find is the best of the results of a CPU measurement with so many threads.
func find(in *Input, kind, what string, threads int) (best measured) {
	for _, rec := range in.Records {
		for i := range rec.Results {
			r := &rec.Results[i]
			if r.Kind == kind && r.What == what && r.Threads == threads && r.Device == "cpu" && (best.r == nil || r.Value > best.r.Value) {
				best = measured{rec, r}
			}
		}
	}
	return best
}
