package catalog

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/model"
)

// attentionFile is one attention of a model file. kind is gqa (also mha and
// mqa, the default), mla or linear; sizes are per head unless named otherwise.
type attentionFile struct {
	Kind      string       `json:"kind"`
	Heads     int64        `json:"heads"`
	KVHeads   int64        `json:"kv_heads"`
	HeadDim   int64        `json:"head_dim"` // gqa: query, key and value
	VDim      int64        `json:"v_dim"`    // mla and linear
	Window    int64        `json:"window"`
	Chunk     int64        `json:"chunk"`
	QKVBias   bool         `json:"qkv_bias"`
	OutBias   bool         `json:"out_bias"`
	QKNorm    string       `json:"qk_norm"` // head: a norm over one head; layer: over all heads at once
	Sinks     bool         `json:"sinks"`   // one learned logit per head
	OutGate   bool         `json:"out_gate"`
	SharedKV  bool         `json:"shared_kv"`
	NoRoPE    bool         `json:"no_rope"`
	QRank     int64        `json:"q_rank"`
	KVRank    int64        `json:"kv_rank"`
	Nope      int64        `json:"nope"` // mla: part of query and key without rotation
	Rope      int64        `json:"rope"` // mla: rotated part
	KeyHeads  int64        `json:"key_heads"`
	KeyDim    int64        `json:"key_dim"` // linear: query and key
	ConvWidth int64        `json:"conv_width"`
	Indexer   *indexerFile `json:"indexer"`
}

type indexerFile struct {
	Heads int64 `json:"heads"`
	Dim   int64 `json:"dim"`
	TopK  int64 `json:"topk"` // tokens
}

func (a *attentionFile) attention() (model.Attention, error) {
	out := model.Attention{
		Heads: a.Heads, Window: a.Window, Chunk: a.Chunk, QKVBias: a.QKVBias, OutBias: a.OutBias,
		OutGate: a.OutGate, SharedKV: a.SharedKV, NoRoPE: a.NoRoPE,
	}
	switch a.Kind {
	case "", "gqa":
		out.KVHeads, out.QKDim, out.VDim = a.KVHeads, a.HeadDim, a.HeadDim
	case "mla":
		out.Kind, out.QRank, out.KVRank, out.Rope, out.QKDim, out.VDim = model.MLA, a.QRank, a.KVRank, a.Rope, a.Nope+a.Rope, a.VDim
	case "linear":
		out.Kind, out.KeyHeads, out.QKDim, out.VDim, out.ConvWidth = model.Linear, a.KeyHeads, a.KeyDim, a.VDim, a.ConvWidth
	default:
		return out, fmt.Errorf("attention kind %q is not understood; known are gqa mla linear", a.Kind)
	}
	switch a.QKNorm {
	case "":
	case "head":
		out.QKNorm = 2 * out.QKDim
	case "layer":
		out.QKNorm = (out.Heads + out.KVHeads) * out.QKDim
	default:
		return out, fmt.Errorf("qk_norm %q is not understood; known are head layer", a.QKNorm)
	}
	if a.Sinks {
		out.Sinks = a.Heads
	}
	if ix := a.Indexer; ix != nil {
		out.Indexer = &model.Indexer{Heads: ix.Heads, Dim: ix.Dim, TopK: ix.TopK, BlockSize: 1}
	}
	return out, nil
}

// ffnFile is one feed-forward of a model file; inner and experts together run
// side by side.
type ffnFile struct {
	Inner        int64 `json:"inner"`
	Gated        bool  `json:"gated"`
	Bias         bool  `json:"bias"`
	Experts      int64 `json:"experts"`
	TopK         int64 `json:"topk"`
	ExpertInner  int64 `json:"expert_inner"`
	SharedInner  int64 `json:"shared_inner"` // all shared experts together
	SharedGate   bool  `json:"shared_gate"`
	RouterBias   bool  `json:"router_bias"`
	RouterParams int64 `json:"router_params"`
	Groups       int64 `json:"groups"`
	TopGroups    int64 `json:"top_groups"`
}

func (f *ffnFile) ffn() model.FFN {
	return model.FFN{
		Inner: f.Inner, Gated: f.Gated, Bias: f.Bias, Experts: f.Experts, TopK: f.TopK, ExpertInner: f.ExpertInner,
		SharedInner: f.SharedInner, SharedGate: f.SharedGate, RouterBias: f.RouterBias, RouterParams: f.RouterParams,
		Groups: f.Groups, TopGroups: f.TopGroups,
	}
}
