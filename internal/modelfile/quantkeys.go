package modelfile

import (
	"encoding/json"
	"fmt"
	"slices"
)

// quantKeys are the fields of a quantization_config, by quant_method, that leave
// the format of the weights alone: activations, caches, kernels, calibration.
var quantKeys = map[string][]string{
	"fp8":      {"activation_scheme", "fmt", "scale_fmt", "dequantize", "kv_cache_scheme"},
	"mxfp4":    {"dequantize"},
	"modelopt": {"producer", "config_groups", "kv_cache_scheme", "kv_cache_quant_algo", "quantization_status"},
	"compressed-tensors": {"format", "global_compression_ratio", "kv_cache_scheme", "quantization_status", "sparsity_config", "transform_config",
		"version"},
	"gptq": {"desc_act", "sym", "damp_percent", "damp_auto_increment", "true_sequential", "static_groups", "model_seqlen", "block_name_to_quantize",
		"module_name_preceding_first_block", "batch_size", "pad_token_id", "use_exllama", "exllama_config", "quantizer", "checkpoint_format", "meta",
		"dataset", "tokenizer", "model_name_or_path", "model_file_base_name", "cache_block_outputs", "use_cuda_fp16", "max_input_length", "pack_dtype",
		"is_marlin_format", "backend", "version"},
	"awq": {"zero_point", "version", "backend", "do_fuse", "fuse_max_seq_len", "modules_to_fuse", "exllama_config", "sym"},
}

// strategies are how compressed-tensors shares scales.
var strategies = []string{"tensor", "channel", "group", "block", "tensor_group"}

// known marks fields as understood.
func (f *fields) known(keys ...string) {
	for _, k := range keys {
		f.used[k] = true
	}
}

// group reads a number of values that share a scale: -1, a whole row, or at
// least 1. The format's own group stands for it.
func (f *fields) group(key string) {
	if n, ok := f.m[key].(json.Number); ok && n == "-1" {
		f.known(key)
		return
	}
	f.sizeOr(1, key)
}

// close refuses what is left: a field of a checkpoint's format that nobody knows
// may change the format.
func (f *fields) close() {
	var left []string
	for k, v := range f.m {
		if !f.used[k] && v != nil {
			left = append(left, k)
		}
	}
	if f.err == nil && len(left) > 0 {
		slices.Sort(left)
		f.err = fmt.Errorf("%s%s is not understood and may change the format of the weights; remove it if it does not", f.path, show(left[0]))
	}
}
