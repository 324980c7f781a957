package modelfile_test

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/modelfile"
)

// TestPublishedTotals counts configurations of published models, shortened to the fields of shapes, against the
// parameters that Hugging Face states for their safetensors files (the papers' where that is said).
func TestPublishedTotals(t *testing.T) {
	for name, c := range map[string]struct {
		params int64
		text   string
	}{
		"allenai/OLMo-2-1124-7B":            {7_298_617_344, `{"model_type":"olmo2","hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"vocab_size":100352,"max_position_embeddings":4096}`},
		"allenai/OLMoE-1B-7B-0924":          {6_919_161_856, `{"model_type":"olmoe","hidden_size":2048,"intermediate_size":1024,"num_hidden_layers":16,"num_attention_heads":16,"num_key_value_heads":16,"vocab_size":50304,"num_experts":64,"num_experts_per_tok":8,"clip_qkv":null}`},
		"ibm-granite/granite-3.1-8b-base":   {8_170_848_256, `{"model_type":"granite","hidden_size":4096,"intermediate_size":12800,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":49155,"tie_word_embeddings":true,"attention_multiplier":0.0078125,"embedding_multiplier":12.0,"logits_scaling":16.0,"residual_multiplier":0.22}`},
		"HuggingFaceTB/SmolLM3-3B":          {3_075_098_624, `{"model_type":"smollm3","hidden_size":2048,"intermediate_size":11008,"num_hidden_layers":36,"num_attention_heads":16,"num_key_value_heads":4,"vocab_size":128256,"no_rope_layer_interval":4,"use_sliding_window":false,"sliding_window":null,"max_window_layers":28}`},
		"google/gemma-7b":                   {8_537_680_896, `{"model_type":"gemma","hidden_size":3072,"intermediate_size":24576,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":16,"head_dim":256,"vocab_size":256000}`},
		"baidu/ERNIE-4.5-0.3B-PT":           {360_748_032, `{"model_type":"ernie4_5","hidden_size":1024,"intermediate_size":3072,"num_hidden_layers":18,"num_attention_heads":16,"num_key_value_heads":2,"head_dim":128,"vocab_size":103424,"use_bias":false,"tie_word_embeddings":true}`},
		"CohereForAI/c4ai-command-r-v01":    {34_980_831_232, `{"model_type":"cohere","hidden_size":8192,"intermediate_size":22528,"num_hidden_layers":40,"num_attention_heads":64,"num_key_value_heads":64,"vocab_size":256000,"logit_scale":0.0625,"use_qk_norm":false}`},
		"CohereForAI/c4ai-command-r-plus":   {103_810_674_688, `{"model_type":"cohere","hidden_size":12288,"intermediate_size":33792,"num_hidden_layers":64,"num_attention_heads":96,"num_key_value_heads":8,"vocab_size":256000,"logit_scale":0.833,"use_qk_norm":true}`},
		"EleutherAI/gpt-neox-20b (paper)":   {20_554_567_680, `{"model_type":"gpt_neox","hidden_size":6144,"intermediate_size":24576,"num_hidden_layers":44,"num_attention_heads":64,"vocab_size":50432,"max_position_embeddings":2048,"rotary_pct":0.25,"use_parallel_residual":true}`},
		"bigcode/starcoder2-15b":            {15_957_889_024, `{"model_type":"starcoder2","hidden_size":6144,"intermediate_size":24576,"num_hidden_layers":40,"num_attention_heads":48,"num_key_value_heads":4,"vocab_size":49152,"sliding_window":4096,"use_bias":true,"mlp_type":"default","norm_type":"layer_norm","tie_word_embeddings":false,"residual_dropout":0.1,"embedding_dropout":0.1}`},
		"microsoft/Phi-3.5-MoE-instruct":    {41_873_153_344, `{"architectures":["PhiMoEForCausalLM"],"model_type":"phimoe","hidden_size":4096,"intermediate_size":6400,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":32064,"num_local_experts":16,"num_experts_per_tok":2,"attention_bias":true,"lm_head_bias":true,"sliding_window":131072,"input_jitter_noise":0.01}`},
		"Qwen/Qwen3-Next-80B-A3B, less MTP": {79_674_391_296, `{"model_type":"qwen3_next","hidden_size":2048,"intermediate_size":5120,"moe_intermediate_size":512,"shared_expert_intermediate_size":512,"num_experts":512,"num_experts_per_tok":10,"num_hidden_layers":48,"num_attention_heads":16,"num_key_value_heads":2,"head_dim":256,"vocab_size":151936,"linear_num_key_heads":16,"linear_num_value_heads":32,"linear_key_head_dim":128,"linear_value_head_dim":128,"linear_conv_kernel_dim":4,"full_attention_interval":4,"decoder_sparse_step":1,"mlp_only_layers":[],"partial_rotary_factor":0.25}`},
		"mistralai/Mistral-Small-3.1-24B":   {23_572_403_200, `{"architectures":["Mistral3ForConditionalGeneration"],"model_type":"mistral3","text_config":{"model_type":"mistral","hidden_size":5120,"intermediate_size":32768,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":131072,"sliding_window":null},"vision_config":{},"vision_feature_layer":-1,"spatial_merge_size":2,"image_token_index":10,"multimodal_projector_bias":false,"projector_hidden_act":"gelu"}`},
		"Qwen/Qwen2.5-VL-7B, flat":          {7_615_616_512, `{"architectures":["Qwen2_5_VLForConditionalGeneration"],"model_type":"qwen2_5_vl","hidden_size":3584,"intermediate_size":18944,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"vocab_size":152064,"sliding_window":32768,"use_sliding_window":false,"max_window_layers":28,"vision_config":{},"vision_start_token_id":151652,"tie_word_embeddings":false}`},
	} {
		m, err := modelfile.ReadConfig(strings.NewReader(c.text), name)
		if err != nil {
			t.Error(err)
		} else if got := m.Params(); got != c.params {
			t.Errorf("%s: counted %d parameters, published are %d", name, got, c.params)
		}
	}
}

// Which layers slide, rotate, route or have fewer norms follows the families' patterns.
func TestDerivedPatterns(t *testing.T) {
	layer := `"hidden_size":64,"intermediate_size":128,"num_hidden_layers":8,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":100`
	for name, c := range map[string]struct{ text, want string }{
		"OLMo 3":        {`{"model_type":"olmo3","sliding_window":16,` + layer + `}`, "wwwfwwwf"},
		"Command A":     {`{"model_type":"cohere2","sliding_window":16,"sliding_window_pattern":4,` + layer + `}`, "WWWFWWWF"},
		"SmolLM3":       {`{"model_type":"smollm3","no_rope_layers":[1,1,1,0,1,1,1,0],` + layer + `}`, "fffnfffn"},
		"ERNIE 4.5 MoE": {`{"model_type":"ernie4_5_moe","moe_num_experts":4,"moe_k":2,"moe_intermediate_size":32,"moe_num_shared_experts":1,"moe_layer_start_index":1,"moe_layer_end_index":6,"moe_layer_interval":1,` + layer + `}`, "feeeeeef"},
		"Granite MoE":   {`{"model_type":"granitemoe","num_local_experts":4,"num_experts_per_tok":2,` + layer + `}`, "eeeeeeee"},
		"Seed-OSS":      {`{"model_type":"seed_oss","head_dim":16,"attention_out_bias":false,"residual_dropout":0.1,` + layer + `}`, "bbbbbbbb"},
		"GLM 4":         {`{"model_type":"glm4","head_dim":16,"attention_bias":true,` + layer + `}`, "BBBBBBBB"},
	} {
		m, err := modelfile.ReadConfig(strings.NewReader(c.text), name)
		if err != nil {
			t.Error(err)
			continue
		}
		var got strings.Builder
		for _, l := range m.Layers {
			kind := "f"
			switch a := l.Attention; {
			case a.Window > 0 && l.Norms == 1:
				kind = "W"
			case a.Window > 0:
				kind = "w"
			case l.Norms == 1:
				kind = "F"
			case a.NoRoPE:
				kind = "n"
			case l.FFN.MoE():
				kind = "e"
			case a.QKVBias && l.Norms == 4:
				kind = "B"
			case a.QKVBias && !a.OutBias:
				kind = "b"
			}
			got.WriteString(kind)
		}
		if got.String() != c.want {
			t.Errorf("%s: layers %s, want %s", name, got.String(), c.want)
		}
	}
}
