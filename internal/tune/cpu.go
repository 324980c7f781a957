package tune

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// cpu makes a machine of one host's probe: its memory, and the rates of as many
// threads as the engine takes. What a CPU can do at most nobody states per thread, so
// the measured rates stand in for the peaks too, and say so.
func (o *Outcome) cpu(in *Input) error {
	threads := max(in.Threads, 1)
	for _, rec := range in.Records {
		read, triad, gemm := find(rec, record.Memory, "read", threads), find(rec, record.Memory, "triad", threads), find(rec, record.GEMM, "gemm", threads)
		if read == nil && triad == nil || gemm == nil {
			continue
		}
		fastest := triad
		if triad == nil || read != nil && read.Value > triad.Value {
			fastest = read
		}
		if rec.Machine.MemoryBytes <= 0 {
			return fmt.Errorf("%s: the record does not say how much memory the machine has: give --cluster with a file that does", rec.Source)
		}
		d := &hw.Device{Name: cpuName(rec), Vendor: vendor(rec.Machine.CPU), Arch: hw.CPUArch, Kernels: catalog.Kernels(hw.CPUArch),
			Notes: fmt.Sprintf("%d of %d cores; peaks are what was measured", threads, rec.Machine.Cores)}
		d.Peak.Memory = hw.Figure{Value: float64(rec.Machine.MemoryBytes), Grade: hw.Datasheet, Source: "the system's own count"}
		source := func(r *record.Result) string {
			return fmt.Sprintf("%s, %s, %d threads, %d repeats, spread %.0f %%", rec.Tool, r.Kernel, threads, r.Repeats, 100*r.Spread)
		}
		measured := func(v float64, s string) hw.Figure { return hw.Figure{Value: v, Grade: hw.Measured, Source: s} }
		d.Achieved.HBM = measured(fastest.Value, source(fastest))
		d.Achieved.Matrix[unit.FP32] = measured(gemm.Value, source(gemm))
		for _, f := range [...]unit.Format{unit.FP16, unit.BF16} {
			d.Achieved.Matrix[f] = hw.Figure{Value: gemm.Value, Grade: hw.Assumed, Source: "widened to FP32: " + source(gemm)}
		}
		o.streams(d, rec, threads)
		peaks(d)
		o.Machine = &hw.Cluster{Name: d.Name, Device: d, GPUs: 1, Node: hw.NodeSpec{GPUs: 1}, Fabric: hw.Fabric{Oversubscription: 1}, Source: "ridgeline calibrate"}
		if r := fastest; r.CPUShare > 0 && r.CPUShare < 0.9 {
			o.Notes = append(o.Notes, fmt.Sprintf("%s: others took %.0f %% of the probe's time: measure again on a quiet machine", rec.Source, 100*(1-r.CPUShare)))
		}
		o.madeOf[fastest], o.madeOf[gemm] = true, true
		o.change("achieved.hbm_gb_per_s", hw.Figure{}, fastest.Value, source(fastest))
		o.change("achieved.fp32_tflops", hw.Figure{}, gemm.Value, source(gemm))
		return nil
	}
	return fmt.Errorf("no record measures memory and products of the CPU with %d threads: run `ridgeline probe --threads %d --out cpu.json` and give it, or name the machine with --cluster", threads, threads)
}

// streams takes what products of one row reach, by format and working set: the best
// repeat, since others on the machine, who share the cache, can only slow them.
func (o *Outcome) streams(d *hw.Device, rec *record.Record, threads int) {
	k := *d.Kernels
	k.Streams = nil
	for i := range rec.Results {
		r := &rec.Results[i]
		f, ok := unit.ParseFormat(r.Format)
		if !ok || r.Device != "cpu" || r.What != record.GEMV || r.Threads != threads {
			continue
		}
		o.madeOf[r] = true
		k.Streams = append(k.Streams, hw.Stream{Format: f, Bytes: float64(r.Bytes), Rate: max(r.Best, r.Value)})
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

// find is the result of a CPU measurement with so many threads.
func find(rec *record.Record, kind, what string, threads int) *record.Result {
	for i := range rec.Results {
		if r := &rec.Results[i]; r.Kind == kind && r.What == what && r.Threads == threads && r.Device == "cpu" {
			return r
		}
	}
	return nil
}
