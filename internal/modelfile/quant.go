package modelfile

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// dtypes maps the spelling of torch to formats.
var dtypes = map[string]unit.Format{
	"bfloat16": unit.BF16, "float16": unit.FP16, "float32": unit.FP32, "float8_e4m3fn": unit.FP8,
}

// readCheckpoint reads the storage format of the weights: dtype, overridden by
// quantization_config. Both may stand beside or inside the text part.
func readCheckpoint(top, body *fields, m *model.Model) {
	format := unit.BF16
	for _, f := range []*fields{top, body} {
		for _, key := range []string{"torch_dtype", "dtype"} {
			if name := f.text(key, ""); name != "" && name != "auto" {
				got, ok := dtypes[strings.TrimPrefix(name, "torch.")]
				if !ok {
					f.fail(key, "is %s, which is not understood; known are bfloat16 float16 float32 float8_e4m3fn", show(name))
				}
				format = got
			}
		}
	}
	m.Checkpoint = model.Checkpoint{Weights: format, Experts: format}
	for _, f := range []*fields{top, body} {
		if q := f.object("quantization_config"); q != nil {
			quantization(q, m)
			f.join(q)
			return
		}
	}
}

// quantization reads one quantization_config.
func quantization(q *fields, m *model.Model) {
	method := q.text("quant_method", "")
	kept := q.texts("modules_to_not_convert")
	q.known(quantKeys[method]...)
	q.known("modules_to_not_convert")
	q.group("group_size")
	switch method {
	case "fp8":
		setCheckpoint(m, fp8(q), kept)
	case "mxfp4":
		setCheckpoint(m, unit.MXFP4, kept)
	case "gptq", "awq":
		setCheckpoint(m, integer(q, "bits", q.size("bits")), kept)
	case "modelopt":
		algo := q.text("quant_algo", "")
		format, ok := modelopt(algo)
		if !ok {
			q.fail("quant_algo", "is %s, which is not understood; known are FP8 FP8_BLOCK NVFP4 MXFP8 W4A16_AWQ", show(algo))
		}
		setCheckpoint(m, format, append(q.texts("ignore"), append(q.texts("exclude_modules"), kept...)...))
	case "compressed-tensors":
		setCheckpoint(m, compressed(q), append(q.texts("ignore"), kept...))
	default:
		q.fail("quant_method", "is %s, which is not understood; known are fp8 mxfp4 modelopt compressed-tensors gptq awq", show(method))
	}
	q.close()
}

// setCheckpoint applies a format to all linears, or to the experts alone where
// the kept modules name attention of every layer.
func setCheckpoint(m *model.Model, format unit.Format, kept []string) {
	m.Checkpoint.KeptBF16 = kept
	m.Checkpoint.Experts = format
	for _, name := range kept {
		if everyAttention(name) {
			return
		}
	}
	m.Checkpoint.Weights = format
}

// everyAttention tells whether a pattern such as model.layers.*.self_attn or
// re:.*self_attn.* keeps attention in all layers; model.layers.3.self_attn does not.
func everyAttention(pattern string) bool {
	at := strings.Index(pattern, "self_attn")
	if at < 0 {
		return false
	}
	tail := strings.Trim(pattern[at+len("self_attn"):], ".*")
	return tail == "" && !strings.ContainsAny(pattern[:at], "0123456789")
}

// fp8 is block-scaled where weight_block_size is given: 128 x 128 only.
func fp8(q *fields) unit.Format {
	block := q.counts("weight_block_size")
	if block == nil {
		return unit.FP8
	}
	if len(block) != 2 || block[0] != 128 || block[1] != 128 {
		q.fail("weight_block_size", "is %v; only [128, 128] is supported", block)
	}
	return unit.FP8Block
}

func integer(q *fields, key string, bits int64) unit.Format {
	switch bits {
	case 8:
		return unit.INT8
	case 4:
		return unit.INT4
	}
	q.fail(key, "is %d; only 4 and 8 bit are supported", bits)
	return unit.INT8
}

// modelopt maps ModelOpt's names of algorithms.
func modelopt(algo string) (unit.Format, bool) {
	switch algo {
	case "FP8", "FP8_PER_CHANNEL_PER_TOKEN":
		return unit.FP8, true
	case "FP8_BLOCK", "FP8_PB_WO":
		return unit.FP8Block, true
	case "NVFP4", "W4A16_NVFP4", "NVFP4_AWQ":
		return unit.NVFP4, true
	case "MXFP8":
		return unit.MXFP8, true
	case "W4A16_AWQ", "W4A16":
		return unit.INT4, true
	case "INT8_SQ", "W8A8_SQ_PER_CHANNEL":
		return unit.INT8, true
	}
	return 0, false
}

// compressed reads the one group of config_groups and its weights.
func compressed(q *fields) unit.Format {
	groups := q.object("config_groups")
	if groups == nil || len(groups.m) != 1 {
		q.fail("config_groups", "must hold exactly one group of weights")
		return unit.BF16
	}
	format := unit.BF16
	for name := range groups.m {
		group := groups.object(name)
		if group == nil {
			break
		}
		group.known("input_activations", "output_activations", "targets", "format")
		w := group.object("weights")
		if w == nil {
			group.fail("weights", "is missing; add it")
		} else {
			format = compressedWeights(w)
			group.join(w)
		}
		group.close()
		groups.join(group)
	}
	q.join(groups)
	return format
}

func compressedWeights(w *fields) unit.Format {
	w.known("block_structure", "symmetric", "dynamic", "actorder", "observer", "observer_kwargs", "scale_dtype", "zp_dtype")
	w.group("group_size")
	bits, kind, strategy := w.size("num_bits"), w.text("type", ""), w.text("strategy", "")
	if !slices.Contains(strategies, strategy) {
		w.fail("strategy", "is %s, which is not understood; known are %s", show(strategy), strings.Join(strategies, " "))
	}
	w.close()
	switch {
	case kind == "int":
		return integer(w, "num_bits", bits)
	case kind == "float" && bits == 4:
		return unit.NVFP4
	case kind == "float" && bits == 8 && strategy == "block":
		return unit.FP8Block
	case kind == "float" && bits == 8:
		return unit.FP8
	}
	w.fail("type", "is %s of %d bits, which is not understood", show(kind), bits)
	return unit.BF16
}

// readSidecar reads ModelOpt's hf_quant_config.json into the checkpoint.
func readSidecar(r io.Reader, m *model.Model) error {
	raw, err := readObject(r)
	if err != nil {
		return err
	}
	f := newFields("", raw)
	q := f.object("quantization")
	if f.err != nil {
		return f.err
	}
	if q == nil {
		return errors.New("quantization is missing; add it")
	}
	f.known("producer")
	f.close()
	q.join(f)
	q.known("kv_cache_quant_algo", "awq_block_size", "has_zero_point", "pre_quant_scale", "smoothquant_val")
	q.group("group_size")
	algo := q.text("quant_algo", "")
	format, ok := modelopt(algo)
	if !ok {
		q.fail("quant_algo", "is %s, which is not understood; known are FP8 FP8_BLOCK NVFP4 MXFP8 W4A16_AWQ", show(algo))
	}
	kept := q.texts("exclude_modules")
	q.close()
	if q.err == nil {
		setCheckpoint(m, format, kept)
	}
	return q.err
}
