package catalog

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// origin is what a block's figures inherit when they do not state their own.
type origin struct {
	grade  hw.Grade
	source string
}

// quantity is one figure of a block: its key with the unit, what one unit is in
// SI, and where it goes.
type quantity struct {
	key   string
	scale float64
	to    *hw.Figure
}

// The units that keys spell, in SI.
const (
	giga  = 1e9
	tera  = 1e12
	micro = 1e-6
	nano  = 1e-9
)

// matrixKeys name the matrix rates of a device.
var matrixKeys = [unit.NumFormats]string{
	unit.FP32: "fp32_tflops", unit.TF32: "tf32_tflops", unit.BF16: "bf16_tflops", unit.FP16: "fp16_tflops",
	unit.FP8: "fp8_tflops", unit.FP8Block: "fp8_block_tflops", unit.MXFP8: "mxfp8_tflops", unit.INT8: "int8_tops",
	unit.NVFP4: "nvfp4_tflops", unit.MXFP4: "mxfp4_tflops", unit.INT4: "int4_tops", unit.FP6: "fp6_tflops",
	unit.Q8_0: "q8_0_tflops", unit.Q4_0: "q4_0_tflops",
}

// matrixQuantities are the keys of a block's matrix rates.
func matrixQuantities(rates *[unit.NumFormats]hw.Figure) []quantity {
	var qs []quantity
	for f := range matrixKeys {
		if matrixKeys[f] == "" { // a storage format without products of its own
			continue
		}
		qs = append(qs, quantity{matrixKeys[f], tera, &rates[f]})
	}
	return qs
}

// peakQuantities are the keys of a peak block.
func peakQuantities(p *hw.Peak) []quantity {
	return append(matrixQuantities(&p.Matrix),
		quantity{"memory_gb", giga, &p.Memory},
		quantity{"hbm_gb_per_s", giga, &p.HBM},
		quantity{"scale_up_gb_per_s", giga, &p.ScaleUp},
		quantity{"host_link_gb_per_s", giga, &p.HostLink},
		quantity{"tdp_w", 1, &p.TDP},
	)
}

// achievedQuantities are the keys of an achieved block.
func achievedQuantities(a *hw.Achieved) []quantity {
	return append(matrixQuantities(&a.Matrix),
		quantity{"attention_fwd_tflops", tera, &a.AttentionFwd},
		quantity{"attention_bwd_tflops", tera, &a.AttentionBwd},
		quantity{"hbm_gb_per_s", giga, &a.HBM},
		quantity{"scale_up_gb_per_s", giga, &a.ScaleUp},
		quantity{"scale_up_reduce_gb_per_s", giga, &a.ScaleUpReduce},
		quantity{"host_link_gb_per_s", giga, &a.HostLink},
		quantity{"memory_gb", giga, &a.Memory},
		quantity{"nic_gb_per_s", giga, &a.NIC},
	)
}

// figures reads the quantities that a block gives and leaves the others alone.
func (f *fields) figures(qs []quantity, inherit origin) {
	for _, q := range qs {
		if f.take(q.key) != nil {
			*q.to = f.figure(q.key, q.scale, inherit)
		}
	}
}

// figure reads one figure: a plain number with the block's origin, or a mapping
// with value, source and, where they differ from the block's, grade and
// conditions.
func (f *fields) figure(key string, scale float64, inherit origin) hw.Figure {
	n := f.take(key)
	if n == nil {
		return hw.Figure{}
	}
	if n.Kind != yaml.MappingNode {
		if inherit.source == "" {
			f.fail(n, key, "has no source: give value and source, or a source for the block")
		}
		return hw.Figure{Value: f.positive(n, key, key) * scale, Grade: inherit.grade, Source: inherit.source}
	}
	b := f.sub(n, key)
	fig := hw.Figure{Grade: inherit.grade, Source: inherit.source}
	if b.has("value") {
		fig.Value = b.positive(b.take("value"), "value", key) * scale
	} else {
		b.fail(n, "value", "is missing: give the number%s", unitOf(key).in())
	}
	b.origin(&fig)
	b.done()
	return fig
}

// origin reads source, grade and conditions into a figure.
func (f *fields) origin(fig *hw.Figure) {
	if s := f.text("source"); s != "" {
		fig.Source = s
	}
	if c := f.text("conditions"); c != "" {
		fig.Source += " (" + c + ")"
	}
	if s := f.word("grade", []string{"assumed", "datasheet", "published", "measured"}); s != "" {
		fig.Grade, _ = hw.ParseGrade(s)
	}
	if fig.Source == "" {
		f.fail(nil, "source", "is missing: say who states the figure")
	}
	if fig.Grade == hw.Absent {
		f.fail(nil, "grade", "is missing: say assumed, datasheet, published or measured")
	}
}

// fillBlockFP8 gives block-scaled FP8 the peak of the FP8 multipliers it runs on.
func fillBlockFP8(p *hw.Peak) {
	if !p.Matrix[unit.FP8Block].Known() {
		p.Matrix[unit.FP8Block] = p.Matrix[unit.FP8]
	}
}

// readingUnits are the endings of a further reading's name.
var readingUnits = []struct {
	suffix, si string
	scale      float64
}{
	{"_tflops", "FLOP/s", tera}, {"_tops", "FLOP/s", tera}, {"_gb_per_s", "bytes/s", giga}, {"_us", "seconds", micro},
}

// readings reads the list of further measurements.
func (f *fields) readings(key string) []hw.Reading {
	var out []hw.Reading
	for _, n := range f.list(key) {
		b := f.sub(n, key)
		name := b.text("figure")
		v, _ := b.number("value")
		r := hw.Reading{Figure: hw.Figure{Grade: hw.Measured}}
		for _, u := range readingUnits {
			if q, ok := strings.CutSuffix(name, u.suffix); ok {
				r.Quantity, r.Unit, r.Figure.Value = q, u.si, v*u.scale
			}
		}
		if r.Unit == "" {
			b.fail(n, "figure", "is %s: name the quantity with its unit, for example fp8_tflops", quote(name))
		}
		b.origin(&r.Figure)
		b.done()
		out = append(out, r)
	}
	return out
}
