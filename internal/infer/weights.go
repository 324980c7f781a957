package infer

import (
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// product is the format that weights stored in f are multiplied in: f where the
// device multiplies it, 16 bit otherwise, which reads the few bytes and widens
// them (weight-only kernels such as Marlin). 4-bit integers are always widened (GPTQ and
// AWQ kernels); other formats that are warn, since the checkpoint was made for another GPU.
func (e *Engine) product(f unit.Format, what string) unit.Format {
	if f != unit.INT4 && e.machine.Supports(f) == nil {
		return f
	}
	if what == "experts" && !e.setup.Model.MoE() {
		return unit.BF16
	}
	wide := e.wide()
	// Of such weights only MXFP4 experts are among measured runs (gpt-oss in inference_runs.csv).
	unmeasured := f.Bits() < 16 && (f != unit.MXFP4 || what != "experts")
	e.narrow = e.narrow || unmeasured
	if what == "experts" && !e.machine.ExpertsTimed(f) {
		e.assumed = append(e.assumed, note.New(note.ExpertsAssumed, "format device wide", "no kernel of %s experts was timed on the %s's generation: they are priced as %s products that read them at the memory's rate, which timed kernels of other formats do not reach",
			f, e.setup.Cluster.Device.Name, wide))
	}
	n := note.New(note.NoProducts, "device format what _ wide", "%s has no %s products: %s are read in %s and multiplied in %s", e.setup.Cluster.Device.Name, f, what, f, wide)
	if !unmeasured || !slices.Contains(deviceFormats, f) {
		e.assumed = append(e.assumed, n)
		return wide
	}
	n.Text += "; give --weights or --expert-weights where the service loads others"
	e.notes = append(e.notes, n)
	return wide
}

// deviceFormats are those that checkpoints are made in for GPUs that multiply them.
var deviceFormats = []unit.Format{unit.FP8, unit.FP8Block, unit.FP8Tile, unit.MXFP8, unit.NVFP4, unit.MXFP4}

// formatWords are formats as names of checkpoints spell them, with the format to state.
var formatWords = map[string]unit.Format{"fp8": unit.FP8, "nvfp4": unit.NVFP4, "fp4": unit.NVFP4, "mxfp4": unit.MXFP4, "awq": unit.INT4,
	"gptq": unit.INT4, "int4": unit.INT4, "w4a16": unit.INT4, "int8": unit.INT8}

// named warns where a checkpoint's name states a format that its configuration does not:
// some are quantised without a quantization_config (NVIDIA's stand in hf_quant_config.json).
func (e *Engine) named() {
	m := e.setup.Model
	if min(m.Checkpoint.Weights.Bits(), m.Checkpoint.Experts.Bits()) < 16 || e.setup.Weights.Bits() < 16 {
		return
	}
	words := strings.FieldsFunc(strings.ToLower(m.Name+"-"+m.HFID), func(r rune) bool { return strings.ContainsRune("-_/. ", r) })
	if i := slices.IndexFunc(words, func(w string) bool { return formatWords[w] != unit.FP32 }); i >= 0 {
		e.notes = append(e.notes, note.New(note.NamedFormat, "model word format state", "the name %s says %s, its configuration no quantization: weights are taken as %s: give --weights %s if they are stored so",
			m.Name, words[i], e.setup.Weights, formatWords[words[i]]))
	}
}
