package modelfile

import (
	"fmt"
	"slices"
	"strings"
)

// harmless lists the fields that leave shapes and counts alone: tokens,
// dropout, initialisation, rotary angles, routing scores, training losses,
// bookkeeping of the library. A trailing or leading * matches the rest.
var harmless = []string{
	// tokens and tasks
	"*_token_id", "*_token_ids", "*_token_index", "boi_*", "eoi_*", "mm_tokens_per_image", "tokenizer_name", "model_max_length",
	"summary_*", "task_specific_params", "problem_type", "id2label", "label2id", "prefix",
	// training: dropout, initialisation, losses
	"*dropout*", "*_pdrop", "pdrop_*", "*_prob", "initializer_*", "init_*", "*_init", "embedding_fraction", "gradient_checkpointing",
	"aux_loss_*", "router_aux_loss_coef", "router_z_loss_coef", "router_jitter_noise", "seq_aux",
	// numerics
	"*_eps", "*_epsilon", "*activation_function", "hidden_act", "hidden_activation", "activation", "ffn_act_fn", "swiglu_limit", "swiglu_alpha",
	"*_softcapping", "query_pre_attn_scalar", "scale_attn*", "attn_scale", "attn_temperature_tuning", "floor_scale", "logit_scale",
	"attention_softmax_in_fp32", "masked_softmax_fusion", "reorder_and_upcast_attn", "slow_but_exact", "apply_residual_connection_post_layernorm",
	"offset_alibi", "skip_bias_add*", "mamba_ssm_dtype", "torch_dtype", "dtype",
	// rotary angles
	"rope_*", "rotary_*", "*rotary_factor", "mrope_*", "yarn_*", "original_max_position_embeddings", "initial_context_length", "indexer_rope_interleave",
	// routing scores
	"norm_topk_prob", "routed_scaling_factor", "router_scaling_factor", "scoring_func",
	// bookkeeping of the library
	"transformers_version", "auto_map", "_name_or_path", "use_cache", "cache_implementation", "use_return_dict", "return_dict*", "output_*",
	"pretraining_tp", "ep_size", "init_device", "verbose", "is_decoder", "is_encoder_decoder", "seq_length",
}

// shapeWords mark a field that may change a shape: such a field is never skipped.
var shapeWords = []string{
	"num", "n_", "size", "dim", "rank", "head", "layer", "expert", "window", "width", "depth", "intermediate", "inner", "ffn", "mlp",
	"moe", "block", "group", "kv", "lora", "attn", "attention", "bias", "norm", "tie", "vocab", "position", "latent", "chunk", "conv",
	"mtp", "nextn", "share", "compress", "sparse", "index", "gate", "top", "ratio", "factor", "interleave", "pattern", "type",
}

func isHarmless(key string) bool {
	return slices.ContainsFunc(harmless, func(p string) bool {
		head, tail := strings.HasSuffix(p, "*"), strings.HasPrefix(p, "*")
		switch word := strings.Trim(p, "*"); {
		case head && tail:
			return strings.Contains(key, word)
		case head:
			return strings.HasPrefix(key, word)
		case tail:
			return strings.HasSuffix(key, word)
		default:
			return key == word
		}
	})
}

// finish judges the fields that no reader asked for. One whose name or type says
// it may change a shape is an error; any other is returned for the reader to see.
func (f *fields) finish() (skipped []string, err error) {
	if f.err != nil {
		return nil, f.err
	}
	keys := make([]string, 0, len(f.m))
	for key, v := range f.m {
		if !f.used[key] && v != nil && !isHarmless(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		switch f.m[key].(type) {
		case map[string]any, []any:
			return nil, fmt.Errorf("%s%s is not understood; remove it if it does not change the model's shapes", f.path, show(key))
		}
		if slices.ContainsFunc(shapeWords, func(w string) bool { return strings.Contains(strings.ToLower(key), w) }) {
			return nil, fmt.Errorf("%s%s is not understood and may change the model's shapes; remove it if it does not", f.path, show(key))
		}
		skipped = append(skipped, fmt.Sprintf("field %s%s is not understood and left out", f.path, key))
	}
	return skipped, nil
}
