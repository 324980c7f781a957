package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Precision is the number formats of a run.
type Precision struct {
	Name       string
	GEMM       unit.Format // linears inside the layers: forward and both gradients
	Attention  unit.Format // attention core
	Head       unit.Format // embedding and LM head
	SavedInput unit.Format // activations stored as inputs of linears
	SavedAct   unit.Format // activations stored as inputs of SwiGLU or GeLU
	Weights    unit.Format // resident working copy of the weights
	Gather     unit.Format // weights on the wire: ZeRO's all-gathers
	Gradients  unit.Format // accumulated gradients
	// Produced is the format in which backward leaves gradients that are then added to the
	// accumulated ones and stay beside them; FP32, the zero value: none do.
	Produced   unit.Format
	GradReduce unit.Format // gradients on the wire
	Master     unit.Format // master weights of the optimizer
	Moment     unit.Format // each of Adam's two moments
	Dispatch   unit.Format // expert all-to-all towards the experts, and its mirror in backward
	Combine    unit.Format // expert all-to-all back, and its mirror
	Copies     bool        // a second copy of the weights in the GEMM format, made from the resident ones once per step
}

// Precisions are the policies by name.
//
//   - bf16: 16-bit GEMMs, FP32 gradients, master weights and Adam moments, the
//     usual mixed precision of 18 bytes per parameter (arXiv:2205.05198).
//   - fp8: DeepSeek-V3's recipe (arXiv:2412.19437 section 3.3): block-scaled FP8
//     linears with FP8 stored inputs, attention, embedding, head, router and
//     norms in BF16, FP32 gradients and master weights, BF16 moments, FP8
//     dispatch and BF16 combine.
//   - fp8-tensor: per-tensor FP8 with BF16 activations (Transformer Engine's
//     delayed or current scaling), FP32 optimizer states.
//   - mxfp8, nvfp4: block formats of Blackwell, same states as fp8-tensor.
var Precisions = map[string]Precision{
	"bf16": {Name: "bf16", GEMM: unit.BF16, Attention: unit.BF16, Head: unit.BF16, SavedInput: unit.BF16, SavedAct: unit.BF16,
		Weights: unit.BF16, Gather: unit.BF16, Gradients: unit.FP32, GradReduce: unit.FP32, Master: unit.FP32, Moment: unit.FP32,
		Dispatch: unit.BF16, Combine: unit.BF16},
	"fp16": {Name: "fp16", GEMM: unit.FP16, Attention: unit.FP16, Head: unit.FP16, SavedInput: unit.FP16, SavedAct: unit.FP16,
		Weights: unit.FP16, Gather: unit.FP16, Gradients: unit.FP32, GradReduce: unit.FP32, Master: unit.FP32, Moment: unit.FP32,
		Dispatch: unit.FP16, Combine: unit.FP16},
	"fp8": {Name: "fp8", GEMM: unit.FP8Block, Attention: unit.BF16, Head: unit.BF16, SavedInput: unit.FP8Tile, SavedAct: unit.FP8Tile,
		Weights: unit.FP8Block, Gather: unit.BF16, Gradients: unit.FP32, GradReduce: unit.BF16, Master: unit.FP32, Moment: unit.BF16,
		Dispatch: unit.FP8Tile, Combine: unit.BF16},
	"fp8-tensor": {Name: "fp8-tensor", GEMM: unit.FP8, Attention: unit.BF16, Head: unit.BF16, SavedInput: unit.FP8, SavedAct: unit.BF16,
		Weights: unit.BF16, Gather: unit.BF16, Gradients: unit.FP32, GradReduce: unit.FP32, Master: unit.FP32, Moment: unit.FP32,
		Dispatch: unit.BF16, Combine: unit.BF16, Copies: true},
	"mxfp8": {Name: "mxfp8", GEMM: unit.MXFP8, Attention: unit.BF16, Head: unit.BF16, SavedInput: unit.MXFP8, SavedAct: unit.BF16,
		Weights: unit.BF16, Gather: unit.BF16, Gradients: unit.FP32, GradReduce: unit.FP32, Master: unit.FP32, Moment: unit.FP32,
		Dispatch: unit.BF16, Combine: unit.BF16, Copies: true},
	"nvfp4": {Name: "nvfp4", GEMM: unit.NVFP4, Attention: unit.BF16, Head: unit.BF16, SavedInput: unit.NVFP4, SavedAct: unit.BF16,
		Weights: unit.BF16, Gather: unit.BF16, Gradients: unit.FP32, GradReduce: unit.FP32, Master: unit.FP32, Moment: unit.FP32,
		Dispatch: unit.BF16, Combine: unit.BF16, Copies: true},
}

// precisionOrder is the order in which help and errors list the policies.
var precisionOrder = []string{"bf16", "fp16", "fp8", "fp8-tensor", "mxfp8", "nvfp4"}

// ParsePrecision finds a policy by name, optionally with another format for
// single parts: `fp8,moment=fp32`. Errors are one line with the mend.
func ParsePrecision(s string) (Precision, error) {
	name, rest, more := strings.Cut(strings.ToLower(s), ",")
	p, ok := Precisions[name]
	if !ok {
		return p, note.Faultf(note.UnknownPrecision, "name known", "precision %q is unknown: use one of %s", name, strings.Join(precisionOrder, ", "))
	}
	seen := map[string]bool{}
	for more {
		var kv string
		kv, rest, more = strings.Cut(rest, ",")
		key, _, _ := strings.Cut(kv, "=")
		if seen[key] {
			return p, fmt.Errorf("precision setting %q is given twice in %q: keep one", key, s)
		}
		seen[key] = true
		if err := p.set(kv); err != nil {
			return p, err
		}
		p.Name += "," + kv
	}
	return p, nil
}

func (p *Precision) set(kv string) error {
	key, value, _ := strings.Cut(kv, "=")
	fields := map[string]*unit.Format{"moment": &p.Moment, "master": &p.Master, "gradients": &p.Gradients,
		"reduce": &p.GradReduce, "dispatch": &p.Dispatch, "combine": &p.Combine, "attention": &p.Attention, "head": &p.Head}
	field, ok := fields[key]
	if !ok {
		return fmt.Errorf("precision setting %q is unknown: use moment, master, gradients, reduce, dispatch, combine, attention or head", key)
	}
	f, ok := unit.ParseFormat(value)
	if !ok {
		return fmt.Errorf("precision setting %q: format %q is unknown: use for example bf16, fp32 or fp8", key, value)
	}
	switch key {
	case "moment", "master", "gradients": // what sums small steps over a run
		if f != unit.FP32 && f != unit.BF16 && f != unit.FP16 {
			return fmt.Errorf("precision setting %q: %s is not supported there: use fp32, bf16 or fp16", key, f)
		}
	case "attention", "head":
		if f.Bits() < 8 {
			return fmt.Errorf("precision setting %q: %s is not supported there: use a format of 8 bit or more, such as bf16 or fp8", key, f)
		}
	}
	*field = f
	return nil
}

// PrecisionNames lists the policies in the order of help and reports.
func PrecisionNames() []string { return slices.Clone(precisionOrder) }
