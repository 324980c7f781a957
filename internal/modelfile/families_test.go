package modelfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/modelfile"
)

// TestConfigsAgainstCatalogue: where a published configuration and a catalogue
// entry describe the same model, they agree layer by layer.
func TestConfigsAgainstCatalogue(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "hf-configs")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Skip("the published configurations are not part of the repository")
	}
	compared := 0
	for _, e := range entries {
		m, err := modelfile.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Error(err)
			continue
		}
		c, err := catalog.Model(m.HFID)
		if err != nil {
			continue // requantised by another publisher
		}
		compared++
		if diff := cmp.Diff(c.Layers, m.Layers); diff != "" {
			t.Errorf("%s: layers (-catalogue +configuration):\n%s", m.HFID, diff)
		}
		if diff := cmp.Diff(c.MTP, m.MTP); diff != "" {
			t.Errorf("%s: MTP (-catalogue +configuration):\n%s", m.HFID, diff)
		}
		if c.Params() != m.Params() || c.CheckpointParams() != m.CheckpointParams() || c.MaxContext != m.MaxContext {
			t.Errorf("%s: catalogue %d parameters, %d in files, context %d; configuration %d, %d, %d", m.HFID,
				c.Params(), c.CheckpointParams(), c.MaxContext, m.Params(), m.CheckpointParams(), m.MaxContext)
		}
	}
	if compared < 20 {
		t.Errorf("only %d configurations have a catalogue entry", compared)
	}
}

// TestFamilies reads the other architectures from configurations of their form
// and holds them against the catalogue.
func TestFamilies(t *testing.T) {
	for name, text := range map[string]string{
		"bloom-176b":       `{"architectures":["BloomForCausalLM"],"model_type":"bloom","hidden_size":14336,"n_layer":70,"n_head":112,"vocab_size":250880,"seq_length":2048,"attention_softmax_in_fp32":true,"n_inner":null}`,
		"opt-175b":         `{"model_type":"opt","hidden_size":12288,"num_hidden_layers":96,"num_attention_heads":96,"ffn_dim":49152,"vocab_size":50272,"max_position_embeddings":2048,"word_embed_proj_dim":12288,"do_layer_norm_before":true}`,
		"falcon-180b":      `{"model_type":"falcon","hidden_size":14848,"num_hidden_layers":80,"num_attention_heads":232,"num_kv_heads":8,"vocab_size":65024,"bias":false,"new_decoder_architecture":true,"multi_query":true,"parallel_attn":true,"alibi":false}`,
		"gpt3-175b":        `{"model_type":"gpt2","n_embd":12288,"n_layer":96,"n_head":96,"n_positions":2048,"n_ctx":2048,"vocab_size":50257,"resid_pdrop":0.1}`,
		"mpt-7b":           `{"model_type":"mpt","d_model":4096,"n_layers":32,"n_heads":32,"expansion_ratio":4,"max_seq_len":2048,"vocab_size":50368,"learned_pos_emb":true,"no_bias":false,"attn_config":{"alibi":false,"attn_type":"multihead_attention","attn_impl":"flash"}}`,
		"phi-4":            `{"model_type":"phi3","hidden_size":5120,"intermediate_size":17920,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":10,"vocab_size":100352,"max_position_embeddings":16384,"sliding_window":null}`,
		"mistral-7b":       `{"model_type":"mistral","hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":32000,"max_position_embeddings":32768,"sliding_window":4096}`,
		"qwen2.5-7b":       `{"model_type":"qwen2","hidden_size":3584,"intermediate_size":18944,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"vocab_size":152064,"sliding_window":131072,"use_sliding_window":false,"max_window_layers":28}`,
		"gemma-2-9b":       `{"model_type":"gemma2","hidden_size":3584,"intermediate_size":14336,"num_hidden_layers":42,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":256,"vocab_size":256000,"sliding_window":4096,"query_pre_attn_scalar":256,"attn_logit_softcapping":50.0}`,
		"gemma-3-4b":       `{"model_type":"gemma3","text_config":{"model_type":"gemma3_text","hidden_size":2560,"intermediate_size":10240,"num_hidden_layers":34,"sliding_window":1024},"vision_config":{}}`,
		"nemotron-4-340b":  `{"model_type":"nemotron","hidden_size":18432,"intermediate_size":73728,"num_hidden_layers":96,"num_attention_heads":96,"num_key_value_heads":8,"vocab_size":256000}`,
		"glm-4.5":          `{"model_type":"glm4_moe","hidden_size":5120,"intermediate_size":12288,"moe_intermediate_size":1536,"num_hidden_layers":92,"num_attention_heads":96,"num_key_value_heads":8,"head_dim":128,"vocab_size":151552,"attention_bias":true,"use_qk_norm":true,"n_routed_experts":160,"num_experts_per_tok":8,"n_shared_experts":1,"first_k_dense_replace":3,"num_nextn_predict_layers":1,"n_group":1,"topk_group":1}`,
		"deepseek-v2":      `{"model_type":"deepseek_v2","hidden_size":5120,"intermediate_size":12288,"moe_intermediate_size":1536,"num_hidden_layers":60,"num_attention_heads":128,"num_key_value_heads":128,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"vocab_size":102400,"n_routed_experts":160,"num_experts_per_tok":6,"n_shared_experts":2,"first_k_dense_replace":1,"moe_layer_freq":1,"n_group":8,"topk_group":3,"topk_method":"group_limited_greedy"}`,
		"deepseek-v2-lite": `{"architectures":["DeepseekV2ForCausalLM"],"hidden_size":2048,"intermediate_size":10944,"moe_intermediate_size":1408,"num_hidden_layers":27,"num_attention_heads":16,"q_lora_rank":null,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"vocab_size":102400,"n_routed_experts":64,"num_experts_per_tok":6,"n_shared_experts":2,"first_k_dense_replace":1,"n_group":1,"topk_group":1,"topk_method":"greedy"}`,
		"llama-4-maverick": `{"model_type":"llama4_text","hidden_size":5120,"intermediate_size":8192,"intermediate_size_mlp":16384,"num_hidden_layers":48,"num_attention_heads":40,"num_key_value_heads":8,"head_dim":128,"vocab_size":202048,"attention_chunk_size":8192,"interleave_moe_layer_step":2,"num_experts_per_tok":1,"num_local_experts":128}`,
	} {
		m, err := modelfile.ReadConfig(strings.NewReader(text), name)
		if err != nil {
			t.Error(err)
			continue
		}
		c, err := catalog.Model(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(c.Layers, m.Layers); diff != "" {
			t.Errorf("%s: layers (-catalogue +configuration):\n%s", name, diff)
		}
		if c.Params() != m.Params() || c.CheckpointParams() != m.CheckpointParams() {
			t.Errorf("%s: catalogue %d parameters, configuration %d", name, c.Params(), m.Params())
		}
	}
}

// TestQwen2MoE: every second layer routes and has a gated shared expert; hand count.
func TestQwen2MoE(t *testing.T) {
	m, err := modelfile.ReadConfig(strings.NewReader(`{"model_type":"qwen2_moe","hidden_size":64,"intermediate_size":128,"moe_intermediate_size":32,"shared_expert_intermediate_size":48,
		"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":4,"vocab_size":100,"num_experts":8,"num_experts_per_tok":2,"decoder_sparse_step":2,"mlp_only_layers":[3],
		"use_sliding_window":true,"sliding_window":16,"max_window_layers":3}`), "c")
	if err != nil {
		t.Fatal(err)
	}
	attention := int64(4*64*64 + 3*64 + 2*64)
	want := 2*6400 + 64 + 4*attention + 3*3*64*128 + (8*64 + 8*3*64*32 + 3*64*48 + 64)
	if m.Params() != want {
		t.Errorf("counted %d, want %d", m.Params(), want)
	}
	if m.Layers[2].Attention.Window != 0 || m.Layers[3].Attention.Window != 16 {
		t.Error("the window does not start at max_window_layers")
	}
}
