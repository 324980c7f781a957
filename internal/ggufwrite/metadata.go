package ggufwrite

import "fmt"

type pair struct {
	key   string
	value any
}

// metadata is what llama.cpp needs to load the model (gguf.md; llama-model.cpp).
func (c *Config) metadata() []pair {
	a := c.Architecture + "."
	keys := []pair{{"general.architecture", c.Architecture}, {"general.name", "random " + c.Architecture}, {"general.file_type", fileTypes[c.Type]}}
	count := func(key string, n int) { keys = append(keys, pair{a + key, uint32(n)}) }
	count("block_count", c.Layers)
	count("context_length", c.Context)
	count("embedding_length", c.Hidden)
	count("feed_forward_length", c.Inner)
	count("attention.head_count", c.Heads)
	count("vocab_size", c.Vocab)
	keys = append(keys, pair{a + "attention.layer_norm_rms_epsilon", float32(1e-5)}, pair{a + "rope.freq_base", float32(10000)})
	if c.latent() {
		c.latentKeys(count)
		// DeepSeek-V3's routing: sigmoid scores, normalised, scaled (arXiv:2412.19437).
		keys = append(keys, pair{a + "expert_weights_scale", float32(2.5)}, pair{a + "expert_weights_norm", true}, pair{a + "expert_gating_func", uint32(2)})
	} else {
		count("attention.head_count_kv", c.KVHeads)
		count("rope.dimension_count", c.Hidden/c.Heads)
	}
	return append(keys, c.vocabulary()...)
}

// latentKeys are those of latent attention in its absorbed form, one key head of
// latent and rotary part, and of the experts.
func (c *Config) latentKeys(count func(string, int)) {
	count("attention.head_count_kv", 1)
	count("attention.q_lora_rank", c.QRank)
	count("attention.kv_lora_rank", c.KVRank)
	count("attention.key_length", c.KVRank+c.RoPE)
	count("attention.value_length", c.KVRank)
	count("attention.key_length_mla", c.NoPE+c.RoPE)
	count("attention.value_length_mla", c.VDim)
	count("rope.dimension_count", c.RoPE)
	count("leading_dense_block_count", c.Dense)
	count("expert_count", c.Experts)
	count("expert_used_count", c.TopK)
	count("expert_feed_forward_length", c.ExpertInner)
	count("expert_shared_count", c.Shared)
}

// words of the vocabulary that are not made up: three marks, 256 bytes, 26 letters
// and the space.
const words = 3 + 256 + 26 + 1

// The kinds of tokens (llama.h, enum llama_token_type).
const (
	tokenNormal  = 1
	tokenUnknown = 2
	tokenControl = 3
	tokenByte    = 6
)

// vocabulary is a SentencePiece one: any text splits into its bytes at worst.
func (c *Config) vocabulary() []pair {
	tokens, scores, kinds := make([]string, c.Vocab), make([]float32, c.Vocab), make([]int32, c.Vocab)
	for i := range tokens {
		scores[i], kinds[i] = float32(-i), tokenNormal
		switch {
		case i < 3:
			tokens[i], kinds[i] = []string{"<unk>", "<s>", "</s>"}[i], tokenControl
		case i < 3+256:
			tokens[i], kinds[i] = fmt.Sprintf("<0x%02X>", i-3), tokenByte
		case i < words-1:
			tokens[i] = string(rune('a' + i - 3 - 256))
		case i == words-1:
			tokens[i] = "\u2581" // SentencePiece's space
		default:
			tokens[i] = fmt.Sprintf("\u2581w%d", i)
		}
	}
	kinds[0] = tokenUnknown
	const t = "tokenizer.ggml."
	return []pair{{t + "model", "llama"}, {t + "tokens", tokens}, {t + "scores", scores}, {t + "token_type", kinds},
		{t + "unknown_token_id", uint32(0)}, {t + "bos_token_id", uint32(1)}, {t + "eos_token_id", uint32(2)}, {t + "add_bos_token", true},
		{"tokenizer.chat_template", "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"}}
}
