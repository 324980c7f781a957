package catalog

import (
	"io"
	"maps"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

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
	streams, ends := f.list("streams"), f.list("row_ends")
	if !share.Known() && len(engines.keys) == 0 && len(streams) == 0 && len(ends) == 0 {
		return
	}
	k := hw.Kernels{Arch: d.Arch}
	if d.Kernels != nil {
		k = *d.Kernels
	}
	if share.Known() {
		k.Sustained = hw.SustainedBy(d.Name, share)
	}
	if len(streams) > 0 {
		k.Streams = decodeStreams(f, streams)
	}
	if len(ends) > 0 {
		k.RowEnds = decodeRowEnds(f, ends)
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

// decodeStreams reads how fast products of one row read weights, by working set.
func decodeStreams(f *fields, list []*yaml.Node) (out []hw.Stream) {
	for _, n := range list {
		s := f.sub(n, "streams")
		gb, given := s.number("gb")
		rate, known := s.number("gb_per_s")
		if !given || !known {
			s.fail(n, "", "needs weights, gb and gb_per_s")
		}
		out = append(out, hw.Stream{Format: s.weights(n), Bytes: gb * giga, Rate: rate * giga})
		s.done()
	}
	return out
}

// decodeRowEnds reads what the end of a row of weights takes, by format.
func decodeRowEnds(f *fields, list []*yaml.Node) (out []hw.RowEnd) {
	for _, n := range list {
		s := f.sub(n, "row_ends")
		ns, given := s.number("ns")
		if !given {
			s.fail(n, "", "needs weights and ns")
		}
		out = append(out, hw.RowEnd{Format: s.weights(n), Time: unit.Seconds(ns * nano)})
		s.done()
	}
	return out
}

// weights is the format of weights.
func (f *fields) weights(n *yaml.Node) unit.Format {
	format, ok := unit.ParseFormat(f.label("weights"))
	if !ok {
		f.fail(n, "weights", "is no number format: give fp16, q8_0, q4_0 or another that `ridgeline infer --weights` takes")
	}
	return format
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
	decodeWholeRuns(b, e)
	if gflops, ok := b.number("decode_core_gflops"); ok {
		e.Core = gflops * giga
	}
	for _, n := range b.list("rates") {
		r := b.sub(n, "rates")
		format := r.weights(n)
		gflops, given := r.number("gflops")
		if !given || !r.has("rows") {
			r.fail(n, "", "needs weights, rows and gflops")
		}
		e.Rows = append(e.Rows, hw.RowRate{Format: format, Rows: r.count("rows", 1, 1<<20), Rate: gflops * giga})
		r.done()
	}
	b.done()
}

// wholeConstant is a constant of hw.WholeRuns without unit: its key and the largest value
// that makes sense.
type wholeConstant struct {
	key  string
	most float64
	to   *float64
}

func wholeConstants(w *hw.WholeRuns) []wholeConstant {
	return []wholeConstant{{"launch_share", 2, &w.Launch}, {"quantise_share", 1, &w.Quantise}, {"arrival", 10, &w.Arrival}, {"admission_steps", 1000, &w.Admission}}
}

// wholeTime is a time of hw.WholeRuns and its key, microseconds.
type wholeTime struct {
	key string
	to  *unit.Seconds
}

func wholeTimes(w *hw.WholeRuns) []wholeTime {
	return []wholeTime{{"prompt_us", &w.Prompt}, {"request_us", &w.Request}, {"request_token_us", &w.RequestToken}}
}

// decodeWholeRuns reads the constants that were fitted to whole runs, which every
// sustained share stands for; those that are left out are 0.
func decodeWholeRuns(b *fields, e *hw.Engine) {
	w := &hw.WholeRuns{}
	sustained, given := b.number("sustained_share")
	w.Sustained = sustained
	if sustained > 1 {
		b.fail(b.keys["sustained_share"], "sustained_share", "is %g: give a share of at most 1", sustained)
	}
	for _, c := range wholeTimes(w) {
		if us, ok := b.number(c.key); ok {
			*c.to = unit.Seconds(us * micro)
		}
	}
	for _, c := range wholeConstants(w) {
		v, ok := b.number(c.key)
		if ok && !given {
			b.fail(b.keys[c.key], c.key, "needs sustained_share beside it: the constants of whole runs come together")
		}
		if v > c.most {
			b.fail(b.keys[c.key], c.key, "is %g: give at most %g", v, c.most)
		}
		*c.to = v
	}
	if given {
		e.Host.Whole = w
	}
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
