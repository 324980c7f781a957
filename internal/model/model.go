// Package model describes a transformer's shapes and counts what follows from
// them exactly: parameters, FLOPs per token, KV-cache bytes. It knows no
// hardware, no seconds and no sharding.
//
// A Model is a flat list of layers, each an Attention and an FFN; mixed stacks
// (sliding and full windows, linear and full attention, leading dense layers)
// are simply different entries of the list. Readers (package modelfile) and the
// catalogue build Models; package work turns a Model and a plan into operations.
package model

import "github.com/ridgeline/ridgeline/internal/unit"

// Model is one decoder-only language model.
type Model struct {
	Name         string // catalogue name or file's own name
	HFID         string // Hugging Face id, where there is one
	Architecture string // as the configuration calls it, for example DeepseekV3ForCausalLM
	Hidden       int64
	Vocab        int64
	Layers       []Layer
	MTP          []Layer // multi-token-prediction modules, one layer each
	MTPOwnHead   bool    // the published module carries copies of embedding and head
	Tied         bool    // input embedding and LM head share one matrix
	Positions    int64   // learned position embeddings (rows), 0 with rotary or ALiBi
	EmbedNorm    bool    // a norm after the embedding (BLOOM)
	Norm         Norm    // kind of the final norm and of the layers' norms
	HeadBias     bool
	MaxContext   int64 // tokens
	Checkpoint   Checkpoint
	Source       string   // where the shapes come from
	Unsupported  []string // parts of the published model left out on purpose (vision tower), for the reader to see
}

// Checkpoint is the storage format of the published weights.
type Checkpoint struct {
	Weights unit.Format // linears outside the experts
	Experts unit.Format // routed experts
	// LM head and MLA's matrices per head; FP32, the zero value, = 16 bit. GGUF files
	// store them in fewer bits.
	Head, Absorbed unit.Format
	KeptBF16       []string // modules left at 16 bit, as the configuration names them
}

// Norm is a normalisation layer's kind; it decides its parameters per feature.
type Norm uint8

// RMSNorm has a weight; LayerNorm a weight and a bias; LayerNormNoBias (MPT) a weight only.
const (
	RMSNorm Norm = iota
	LayerNorm
	LayerNormNoBias
)

// Params is the number of parameters of a norm over n features.
func (k Norm) Params(n int64) int64 {
	if k == LayerNorm {
		return 2 * n
	}
	return n
}

// Layer is one transformer block.
type Layer struct {
	Attention Attention
	FFN       FFN
	Norms     int64 // norms over Hidden in the block: 2 usually, 4 with sandwich norms (Gemma), 1 with a parallel block
}

// Kind is the family of an attention layer.
type Kind uint8

// GQA covers MHA (KVHeads = Heads) and MQA (KVHeads = 1).
const (
	GQA Kind = iota
	MLA
	Linear // gated delta rule with a short convolution (Qwen3-Next, Qwen3.5)
)

// Attention holds the shapes of one attention layer; fields of other kinds are zero.
type Attention struct {
	Kind      Kind
	Heads     int64
	KVHeads   int64 // GQA
	QKDim     int64 // per head, query and key (MLA: nope + rope)
	VDim      int64 // per head
	Window    int64 // sliding window in tokens, 0 = full
	Chunk     int64 // chunked attention: tokens attend within their chunk of this size (Llama 4), 0 = full
	QKVBias   bool
	OutBias   bool
	QKNorm    int64 // total parameters of query and key norms
	Sinks     int64 // learned sink logits, one per head where present
	OutGate   bool  // output gate projected beside the query (Qwen3.5)
	SharedKV  bool  // keys reused as values: no v projection (Gemma 4 full layers)
	NoRoPE    bool
	QRank     int64 // MLA: rank of the query latent, 0 = direct projection
	KVRank    int64 // MLA: rank of the shared key/value latent
	Rope      int64 // MLA: rotary width of the shared key
	Indexer   *Indexer
	KeyHeads  int64 // Linear: heads of q and k
	ConvWidth int64 // Linear: taps of the causal convolution
}

// Indexer is the scorer of sparse attention (DeepSeek-V3.2): every query scores
// all earlier tokens with Heads x Dim and attends to the best TopK.
type Indexer struct {
	Heads, Dim, TopK int64
	BlockSize        int64 // tokens per selected block, 1 = token-wise
}

// FFN holds the shapes of one feed-forward layer.
type FFN struct {
	Inner        int64 // width of the dense FFN; 0 where there is none
	Gated        bool  // SwiGLU or GeGLU: three matrices; otherwise two
	Bias         bool
	Experts      int64 // routed experts, 0 = dense
	TopK         int64
	ExpertInner  int64
	SharedInner  int64 // summed width of the shared experts
	SharedGate   bool  // a 1 x hidden gate on the shared expert (Qwen)
	RouterBias   bool  // selection bias or router bias, one per expert
	Groups       int64 // expert groups of node-limited routing, 0 = none
	TopGroups    int64 // groups a token may use
	RouterParams int64 // further router parameters (scales), usually 0
}

// MoE tells whether the layer routes.
func (f *FFN) MoE() bool { return f.Experts > 0 }

// MoE tells whether any layer of the model routes.
func (m *Model) MoE() bool { return m.FirstMoE() != nil }

// FirstMoE is the FFN of the first layer that routes, nil in a dense model.
func (m *Model) FirstMoE() *FFN {
	for i := range m.Layers {
		if m.Layers[i].FFN.MoE() {
			return &m.Layers[i].FFN
		}
	}
	return nil
}
