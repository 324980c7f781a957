package modelfile

import (
	"strings"
	"testing"
)

// One configuration of each class whose defaults in transformers are the numbers
// of one of its models.
const (
	smallDeepSeek = `{"model_type":"deepseek_v3","hidden_size":64,"intermediate_size":128,"moe_intermediate_size":32,"num_hidden_layers":4,"num_attention_heads":4,"q_lora_rank":16,"kv_lora_rank":8,"qk_nope_head_dim":16,"qk_rope_head_dim":8,"v_head_dim":16,"vocab_size":100,"n_routed_experts":8,"num_experts_per_tok":2,"n_shared_experts":1,"first_k_dense_replace":1,"moe_layer_freq":1,"n_group":1,"topk_group":1}`
	smallQwen3MoE = `{"model_type":"qwen3_moe","hidden_size":64,"intermediate_size":128,"moe_intermediate_size":32,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"vocab_size":100,"num_experts":8,"num_experts_per_tok":2,"decoder_sparse_step":1}`
	smallMistral  = `{"model_type":"mistral","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":100,"sliding_window":null}`
	smallMiniMax  = `{"model_type":"minimax_m2","hidden_size":64,"intermediate_size":32,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"vocab_size":100,"num_local_experts":8,"num_experts_per_tok":2,"use_qk_norm":true,"qk_norm_type":"per_layer","use_routing_bias":true}`
	smallQwen35   = `{"model_type":"qwen3_5_moe_text","hidden_size":64,"moe_intermediate_size":32,"shared_expert_intermediate_size":32,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"vocab_size":100,"num_experts":8,"num_experts_per_tok":2,"linear_num_value_heads":4,"linear_value_head_dim":16,"linear_num_key_heads":4,"linear_key_head_dim":16,"linear_conv_kernel_dim":4}`
	smallMPT      = `{"model_type":"mpt","d_model":64,"n_layers":2,"n_heads":4,"max_seq_len":128,"vocab_size":100,"attn_config":{"alibi":true}}`
)

// without drops one field.
func without(text, key string) string {
	at := strings.Index(text, `,"`+key+`":`)
	end := strings.IndexAny(text[at+1:], ",}")
	if key == "attn_config" {
		return text[:at] + "}"
	}
	return text[:at] + text[at+1+end:]
}

// TestMissingField: a field that a library fills in with another model's number
// may not be left out; null says that there is none.
func TestMissingField(t *testing.T) {
	for text, keys := range map[string][]string{
		smallDeepSeek: {"first_k_dense_replace", "n_shared_experts", "q_lora_rank", "n_group", "topk_group", "kv_lora_rank"},
		smallQwen3MoE: {"head_dim", "num_key_value_heads", "moe_intermediate_size"},
		smallMistral:  {"num_key_value_heads", "sliding_window"},
		smallMiniMax:  {"head_dim", "num_key_value_heads", "use_qk_norm", "use_routing_bias", "qk_norm_type"},
		smallQwen35:   {"head_dim", "num_key_value_heads", "num_experts"},
		smallMPT:      {"attn_config"},
	} {
		read(t, text)
		for _, key := range keys {
			if _, err := ReadConfig(strings.NewReader(without(text, key)), "c"); err == nil || !strings.Contains(err.Error(), key) {
				t.Errorf("without %s: error %v does not name it", key, err)
			}
		}
	}
	if m := read(t, strings.Replace(smallDeepSeek, `"q_lora_rank":16`, `"q_lora_rank":null`, 1)); m.Layers[0].Attention.QRank != 0 {
		t.Error("null is no query rank")
	}
}

// TestFieldBounds: an impossible number is an error that names the file's field.
func TestFieldBounds(t *testing.T) {
	for _, c := range []struct{ text, from, to, says string }{
		{smallDeepSeek, `"first_k_dense_replace":1`, `"first_k_dense_replace":5`, "first_k_dense_replace is 5; the model has 4 layers"},
		{smallDeepSeek, `"moe_layer_freq":1`, `"moe_layer_freq":9`, "moe_layer_freq is 9"},
		{smallQwen3MoE, `"decoder_sparse_step":1`, `"decoder_sparse_step":5`, "decoder_sparse_step is 5"},
		{smallQwen3MoE, `"num_experts_per_tok":2`, `"num_experts_per_tok":9`, "num_experts_per_tok is 9; num_experts is 8"},
		{smallQwen3MoE, `"head_dim":16`, `"head_dim":100000`, "head_dim is 100000"},
		{smallMistral, `"num_key_value_heads":2`, `"num_key_value_heads":3`, "num_key_value_heads is 3"},
	} {
		_, err := ReadConfig(strings.NewReader(strings.Replace(c.text, c.from, c.to, 1)), "c")
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", c.to, err, c.says)
		}
	}
}

// TestShapesAreNotHarmless: names that begin or end like harmless ones.
func TestShapesAreNotHarmless(t *testing.T) {
	for _, field := range []string{`"output_size":8`, `"output_hidden_dim":8`, `"init_layers":2`, `"dropout_layers":2`, `"rope_head_dim":8`, `"is_encoder_decoder":true`} {
		_, err := ReadConfig(strings.NewReader(smallLlama+","+field+"}"), "c")
		if name, _, _ := strings.Cut(strings.Trim(field, `"`), `"`); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", field, err)
		}
	}
	read(t, smallLlama+`,"is_encoder_decoder":false,"output_attentions":false,"rope_theta":1e6,"image_token_id":7}`)
}

// TestEncodings: a byte order mark is no part of the text, and UTF-16 is named.
func TestEncodings(t *testing.T) {
	read(t, "\xef\xbb\xbf"+smallLlama+"}")
	if _, err := ReadConfig(strings.NewReader("\xff\xfe{\x00}\x00"), "c"); err == nil || !strings.Contains(err.Error(), "UTF-16") {
		t.Errorf("UTF-16: %v", err)
	}
}
