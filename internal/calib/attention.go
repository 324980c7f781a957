package calib

import (
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// mostTrained is the largest head dimension of training's kernels.
const mostTrained = 256

// mlaV is MLA's value dimension (arXiv:2405.04434); its d_qk is hw.MLADim.
const mlaV = 128

// attentionSamples reads a context-attention or context-MLA table: causal, 16-bit
// operands and cache, no window, no earlier tokens. d_qk above the largest tabled
// dimension runs on other kernels and is left out.
func attentionSamples(t *table, keep func() bool) ([]sample, error) {
	names := []string{"batch_size", "isl", "num_heads", "step", "latency"}
	dtype := "mla_dtype"
	_, plain := t.col["head_dim"]
	if plain {
		dtype = "attn_dtype"
		names = append(names, "num_key_value_heads", "head_dim")
	}
	if _, ok := t.col["window_size"]; ok {
		names = append(names, "window_size")
	}
	c, err := t.numbers(names...)
	if err != nil {
		return nil, err
	}
	types, err := t.strings(dtype)
	if err != nil {
		return nil, err
	}
	caches, err := t.strings("kv_cache_dtype")
	if err != nil {
		return nil, err
	}
	var out []sample
	for i, d := range types {
		window := len(c["window_size"]) > 0 && c["window_size"][i] != 0
		if d != caches[i] || d != "bfloat16" && d != "float16" || c["step"][i] != 0 || window {
			continue
		}
		batch, s, heads := int64(c["batch_size"][i]), int64(c["isl"][i]), int64(c["num_heads"][i])
		qk, v, kvHeads := int64(hw.MLADim), int64(mlaV), heads
		if plain {
			qk, kvHeads = int64(c["head_dim"][i]), int64(c["num_key_value_heads"][i])
			v = qk
			if kvHeads == 0 { // some engines write 0 for one key head per query head
				kvHeads = heads
			}
		}
		if plain && (qk == hw.MLADim || qk > mostTrained) || !keep() {
			continue
		}
		x := sample{ops: make([]work.Op, 1), weight: 1}
		x.ops[0] = attentionOp(batch, s, heads, kvHeads, qk, v)
		if s >= large {
			x.weight = 10
		}
		if x.seconds, err = t.seconds(c["latency"], i); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// attentionOp is causal self-attention of batch sequences of s tokens in BF16:
// 2 (d_qk + d_v) FLOPs per head and pair, s (s+1)/2 pairs.
func attentionOp(batch, s, heads, kvHeads, qk, v int64) work.Op {
	pairs := float64(batch*heads) * float64(s) * float64(s+1) / 2
	return work.Op{
		Kind: work.Attention, Format: unit.BF16, HeadDim: qk, SeqQ: s, Groups: batch * heads, Count: 1,
		FLOPs: unit.FLOPs(2 * float64(qk+v) * pairs),
		Bytes: unit.BF16.Size(batch * s * (heads + kvHeads) * (qk + v)),
	}
}
