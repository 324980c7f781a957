package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// Asked is what a serving configuration says beside its layout, in the terms of infer's
// flags. Zero values were not said.
type Asked struct {
	Weights    string // format
	KV         string // format
	Drafts     int    // tokens that the model's MTP module drafts
	TwoBatch   bool
	StepTokens int64    // of one attention replica
	Sequences  int64    // of an instance
	Left       []string // what is said and none of these
}

// Flags writes it for infer.
func (a *Asked) Flags() (flags []string) {
	add := func(given bool, flag, value string) {
		if given {
			flags = append(flags, flag, value)
		}
	}
	add(a.Weights != "", "--weights", a.Weights)
	add(a.KV != "", "--kv", a.KV)
	add(a.Drafts > 0, "--spec", "mtp:"+strconv.Itoa(a.Drafts))
	add(a.TwoBatch, "--overlap", "two-batch")
	add(a.StepTokens > 0, "--batch-tokens", strconv.FormatInt(a.StepTokens, 10))
	add(a.Sequences > 0, "--max-sequences", strconv.FormatInt(a.Sequences, 10))
	return flags
}

// Asked is what a request says.
func (r *Request) Asked() *Asked {
	o := &r.Serve
	a := &Asked{KV: o.KV, Drafts: o.Drafts, TwoBatch: o.TwoBatch, StepTokens: o.BatchTokens, Sequences: o.MaxSequences}
	a.quantized(o.Quantization)
	return a.of(r.Engine)
}

// Asked is what an imported command says.
func (im *Imported) Asked() *Asked {
	a, s := &Asked{}, im.Settings
	if s == nil {
		return a
	}
	if f, ok := KVFormat(im.Engine, s.KV); ok {
		a.KV = f.String()
	} else if s.KV != "" && s.KV != "auto" {
		a.leave("KV cache format %q is none that is predicted: bf16 is taken", s.KV)
	}
	dp, _ := im.Plan["dp"].(int)
	a.TwoBatch, a.StepTokens, a.Sequences = s.TwoBatch, stepTokens(im.Engine, s.BatchTokens, dp), Sequences(im.Engine, s.MaxRequests, dp)
	a.quantized(s.Quantization)
	if s.Speculation == "" {
		return a.of(im.Engine)
	}
	method, n, _ := strings.Cut(s.Speculation, ":")
	if drafts, err := strconv.Atoi(n); err == nil && drafts > 0 && !slices.Contains(otherDrafters, strings.ToLower(method)) {
		a.Drafts = drafts
	} else {
		a.leave("speculation %s is none that is predicted: it is left out", s.Speculation)
	}
	return a.of(im.Engine)
}

// otherDrafters are methods of vLLM and SGLang that draft without the model's own modules.
var otherDrafters = []string{"ngram", "ngram_gpu", "suffix", "standalone", "draft_model", "medusa", "mlp_speculator"}

func (a *Asked) leave(format string, args ...any) {
	a.Left = append(a.Left, fmt.Sprintf(format, args...))
}

func (a *Asked) quantized(word string) {
	switch word {
	case "":
	case "fp8":
		a.Weights = word
	default:
		a.leave("quantisation %q is taken to be the checkpoint's own", word)
	}
}

// of drops what the engine counts in another way: llama.cpp's batch is no limit of a step
// that decodes.
func (a *Asked) of(engine string) *Asked {
	if engine == argv.LlamaCPP {
		a.StepTokens = 0
	}
	return a
}
