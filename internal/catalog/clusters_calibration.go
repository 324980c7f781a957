package catalog

import (
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// decodeCalibration reads what `ridgeline calibrate` found beside the achieved
// figures: a file of kernel constants, the share that lasting load holds, and what
// engines do on this machine. It changes a copy of the generation's constants.
func decodeCalibration(f *fields, d *hw.Device) {
	if name := f.label("kernels_file"); name != "" {
		if k := f.kernels(name); k != nil {
			d.Kernels = k
		}
	}
	share := f.share("sustained_share")
	engines := f.block("engines")
	if !share.Known() && len(engines.keys) == 0 {
		return
	}
	k := hw.Kernels{Arch: d.Arch}
	if d.Kernels != nil {
		k = *d.Kernels
	}
	if share.Known() {
		k.Sustained = hw.SustainedBy(d.Name, share)
	}
	k.Engines = slices.Clone(k.Engines)
	for _, name := range slices.Sorted(maps.Keys(engines.keys)) {
		decodeEngine(engines.block(name), name, &k)
	}
	d.Kernels = &k
}

// share reads a share of at most 1: a plain number, which is assumed, or a mapping with
// value, grade and source.
func (f *fields) share(key string) hw.Figure {
	v := f.figure(key, 1, origin{grade: hw.Assumed, source: "machine file"})
	if v.Value > 1 {
		f.fail(f.keys[key], key, "is %g: give a share of at most 1", v.Value)
	}
	return v
}

// decodeEngine adds to an engine what its host and its kernels did on this machine.
func decodeEngine(b *fields, name string, k *hw.Kernels) {
	i := slices.IndexFunc(k.Engines, func(e hw.Engine) bool { return e.Name == name })
	if i < 0 {
		i, k.Engines = len(k.Engines), append(k.Engines, hw.Engine{Name: name})
	}
	e := &k.Engines[i]
	e.Host.Source = b.text("source")
	if e.Host.Source == "" {
		b.fail(nil, "source", "is missing: say what was measured")
	}
	if us, ok := b.number("step_us"); ok {
		e.Host.Step = unit.Seconds(us * micro)
	}
	if us, ok := b.number("sequence_us"); ok {
		e.Host.Sequence = unit.Seconds(us * micro)
	}
	if gflops, ok := b.number("decode_core_gflops"); ok {
		e.Core = gflops * giga
	}
	for _, n := range b.list("rates") {
		r := b.sub(n, "rates")
		format, ok := unit.ParseFormat(r.label("weights"))
		if !ok {
			r.fail(n, "weights", "is no number format: give fp16, q8_0, q4_0 or another that `ridgeline infer --weights` takes")
		}
		gflops, given := r.number("gflops")
		if !given || !r.has("rows") {
			r.fail(n, "", "needs weights, rows and gflops")
		}
		e.Rows = append(e.Rows, hw.RowRate{Format: format, Rows: r.count("rows", 1, 1<<20), Rate: gflops * giga})
		r.done()
	}
	b.done()
}

// kernels reads a file of kernel constants that lies beside the description.
func (f *fields) kernels(name string) *hw.Kernels {
	if !f.files {
		f.fail(f.keys["kernels_file"], "kernels_file", "names another file, which only a machine file can: leave it out")
		return nil
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(f.file), name)
	}
	in, err := input.Open(path)
	if err != nil {
		f.fail(f.keys["kernels_file"], "kernels_file", "cannot be read: %v", err)
		return nil
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxFileBytes))
	if err != nil {
		f.fail(f.keys["kernels_file"], "kernels_file", "cannot be read: %v", err)
		return nil
	}
	k, err := DecodeKernels(path, data)
	if err != nil {
		f.fail(f.keys["kernels_file"], "kernels_file", "is damaged: %v", err)
	}
	return k
}
