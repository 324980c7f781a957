package modelfile

import (
	"fmt"
	"slices"
	"strings"
)

// harmless lists the fields that leave shapes and counts alone: tokens,
// dropout, initialisation, rotary angles, routing scores, training losses,
// bookkeeping of the library. Names are whole, since init_layers or
// rope_head_dim would be shapes; only the endings of harmlessEndings are free.
var harmless = []string{
	// tokens and tasks
	"mm_tokens_per_image", "tokenizer_name", "tokenizer_class", "model_max_length", "task_specific_params", "problem_type", "id2label", "label2id",
	"prefix", "summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels", "summary_first_dropout",
	// other modes: what reads pictures, and text generation, as the base class of transformers writes it
	"multimodal_projector_bias", "projector_hidden_act", "spatial_merge_size", "vision_feature_layer", "vision_feature_select_strategy",
	"use_unified_vision_chunk", "video_placeholder", "ignore_index",
	"max_length", "min_length", "length_penalty", "repetition_penalty", "diversity_penalty", "temperature", "top_k", "top_p", "typical_p", "do_sample",
	"early_stopping", "num_beams", "num_beam_groups", "num_return_sequences", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "bad_words_ids",
	"suppress_tokens", "begin_suppress_tokens", "exponential_decay_length_penalty", "remove_invalid_values", "chunk_size_feed_forward",
	"cross_attention_hidden_size", "pruned_heads", "tie_encoder_decoder", "tf_legacy_loss", "torchscript", "use_bfloat16", "finetuning_task",
	"_attn_implementation_autoset", "_attn_implementation",
	// training: dropout, initialisation, losses
	"attention_dropout", "attn_dropout", "hidden_dropout", "dropout", "activation_dropout", "layerdrop", "classifier_dropout", "attention_probs_dropout_prob",
	"hidden_dropout_prob", "attn_pdrop", "embd_pdrop", "emb_pdrop", "resid_pdrop", "initializer_range", "initializer_factor", "init_std", "init_config",
	"embedding_fraction", "gradient_checkpointing", "aux_loss_alpha", "router_aux_loss_coef", "router_z_loss_coef", "router_jitter_noise", "seq_aux",
	// numerics
	"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon", "norm_eps", "norm_epsilon", "hidden_act", "hidden_activation",
	"activation", "activation_function", "ffn_act_fn", "swiglu_limit", "swiglu_alpha", "attn_logit_softcapping", "final_logit_softcapping", "query_pre_attn_scalar",
	"scale_attn_weights", "scale_attn_by_inverse_layer_idx", "attn_scale", "attn_temperature_tuning", "floor_scale", "logit_scale",
	"attention_softmax_in_fp32", "masked_softmax_fusion", "reorder_and_upcast_attn", "slow_but_exact", "apply_residual_connection_post_layernorm",
	"offset_alibi", "skip_bias_add", "skip_bias_add_qkv", "mamba_ssm_dtype", "torch_dtype", "dtype",
	// rotary angles
	"rope_theta", "rope_scaling", "rope_parameters", "rope_interleave", "rope_local_base_freq", "rope_type", "rotary_dim", "rotary_pct", "rotary_emb_base",
	"partial_rotary_factor", "mrope_interleaved", "mrope_section", "original_max_position_embeddings", "initial_context_length", "indexer_rope_interleave",
	// routing scores
	"norm_topk_prob", "routed_scaling_factor", "router_scaling_factor", "scoring_func",
	// bookkeeping of the library
	"transformers_version", "auto_map", "_name_or_path", "use_cache", "cache_implementation", "use_return_dict", "return_dict", "return_dict_in_generate",
	"output_attentions", "output_hidden_states", "output_scores", "output_router_logits", "pretraining_tp", "ep_size", "init_device", "verbose",
	"is_decoder", "seq_length",
}

// harmlessEndings mark the many names of single tokens.
var harmlessEndings = []string{"_token_id", "_token_ids", "_token_index"}

// shapeWords mark a field that may change a shape: such a field is never skipped.
var shapeWords = []string{
	"num", "n_", "size", "dim", "rank", "head", "layer", "expert", "window", "width", "depth", "intermediate", "inner", "ffn", "mlp",
	"moe", "block", "group", "kv", "lora", "attn", "attention", "bias", "norm", "tie", "vocab", "position", "latent", "chunk", "conv",
	"mtp", "nextn", "share", "compress", "sparse", "index", "gate", "top", "ratio", "factor", "interleave", "pattern", "type",
}

func isHarmless(key string) bool {
	return slices.Contains(harmless, key) ||
		slices.ContainsFunc(harmlessEndings, func(end string) bool { return strings.HasSuffix(key, end) })
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
