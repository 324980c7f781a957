package calib

import (
	"cmp"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Dimensions of DeepSeek-V3's latent attention (arXiv:2412.19437 section 4.2),
// whose tables state heads only.
const (
	mlaHidden = 7168
	mlaQRank  = 1536
	mlaLatent = 512
	mlaRope   = 64
	mlaNope   = 128
)

var (
	contextKind = &kind{name: "context attention", text: []string{"attn_dtype", "kv_cache_dtype"},
		numbers: []string{"batch_size", "isl", "num_heads", "num_key_value_heads", "head_dim", "latency"}, more: []string{"step", "window_size"}, row: contextRow}
	decodeKind = &kind{name: "decode attention", text: []string{"attn_dtype", "kv_cache_dtype"},
		numbers: []string{"batch_size", "step", "num_heads", "num_key_value_heads", "head_dim", "latency"}, more: []string{"window_size"}, row: decodeRow}
	latentContextKind = &kind{name: "context mla", text: []string{"mla_dtype", "kv_cache_dtype"},
		numbers: []string{"batch_size", "isl", "num_heads", "latency"}, more: []string{"step"}, row: latentContextRow}
	latentDecodeKind = &kind{name: "decode mla", text: []string{"mla_dtype", "kv_cache_dtype"},
		numbers: []string{"batch_size", "step", "num_heads", "latency"}, row: latentDecodeRow}
	moduleContextKind = &kind{name: "mla context module", text: []string{"mla_dtype", "kv_cache_dtype", "gemm_type"},
		numbers: []string{"batch_size", "isl", "num_heads", "latency"}, more: []string{"step"}, row: moduleContextRow}
	moduleDecodeKind = &kind{name: "mla decode module", text: []string{"mla_dtype", "kv_cache_dtype", "gemm_type"},
		numbers: []string{"batch_size", "step", "num_heads", "latency"}, row: moduleDecodeRow}
)

// operands are the formats of the core's products and of its cache.
func (c *cells) operands(column string, i int) (core, cache unit.Format, why string) {
	a, ok := formats[c.is(column, i)]
	if !ok {
		return 0, 0, "unknown " + column + " " + c.is(column, i)
	}
	k, ok := formats[c.is("kv_cache_dtype", i)]
	if !ok {
		return 0, 0, "unknown kv_cache_dtype " + c.is("kv_cache_dtype", i)
	}
	return a.product, k.product, ""
}

func contextRow(c *cells, i int, x *sample) string {
	core, cache, why := c.operands("attn_dtype", i)
	if why == "" {
		why = cmp.Or(c.positive(i, "batch_size", "isl", "num_heads", "head_dim"), c.sensible(i, "num_key_value_heads", "step", "window_size"))
	}
	if why != "" {
		return why
	}
	heads, kv, d := c.at("num_heads", i), c.at("num_key_value_heads", i), c.at("head_dim", i)
	if kv == 0 { // some engines write 0 for one key head per query head
		kv = heads
	}
	x.ops = append(x.ops, contextOp(core, cache, layout{Sequences: c.at("batch_size", i), Heads: heads, KVHeads: kv, QK: d, V: d},
		c.at("isl", i), c.at("step", i), c.at("window_size", i)))
	return c.latency(i, x)
}

func decodeRow(c *cells, i int, x *sample) string {
	core, cache, why := c.operands("attn_dtype", i)
	if why == "" {
		why = cmp.Or(c.positive(i, "batch_size", "num_heads", "head_dim"), c.sensible(i, "num_key_value_heads", "step", "window_size"))
	}
	if why != "" {
		return why
	}
	heads, kv, d := c.at("num_heads", i), c.at("num_key_value_heads", i), c.at("head_dim", i)
	if kv == 0 {
		kv = heads
	}
	x.ops = append(x.ops, decodeOp(core, cache, layout{Sequences: c.at("batch_size", i), Heads: heads, KVHeads: kv, QK: d, V: d},
		c.at("step", i)+1, c.at("window_size", i)))
	return c.latency(i, x)
}

func latentContextRow(c *cells, i int, x *sample) string {
	core, cache, why := c.operands("mla_dtype", i)
	if why == "" {
		why = cmp.Or(c.positive(i, "batch_size", "isl", "num_heads"), c.sensible(i, "step"))
	}
	if why != "" {
		return why
	}
	x.ops = append(x.ops, expanded(core, cache, c.at("batch_size", i), c.at("num_heads", i), c.at("isl", i), c.at("step", i)))
	return c.latency(i, x)
}

func latentDecodeRow(c *cells, i int, x *sample) string {
	core, cache, why := c.operands("mla_dtype", i)
	if why == "" {
		why = cmp.Or(c.positive(i, "batch_size", "num_heads"), c.sensible(i, "step"))
	}
	if why != "" {
		return why
	}
	x.ops = append(x.ops, absorbed(core, cache, c.at("batch_size", i), c.at("num_heads", i), c.at("step", i)+1))
	return c.latency(i, x)
}

// layout is the shape of an attention core on one GPU.
type layout struct{ Sequences, Heads, KVHeads, QK, V int64 }

// contextOp is a causal core of s query tokens after prior ones, with at most window
// keys each (0 = all): 2 (d_qk + d_v) FLOPs per head and pair.
func contextOp(core, cache unit.Format, a layout, s, prior, window int64) work.Op {
	keys := prior + s
	if window > 0 {
		keys = min(keys, window+s-1)
	}
	pairs := float64(a.Sequences*a.Heads) * causalPairs(s, prior, window)
	tokens := a.Sequences * s
	kvBytes := cache
	if prior == 0 && core.Bits() == 16 {
		kvBytes = core // fresh keys are read as they were made
	}
	last := float64(prior + s)
	if window > 0 {
		last = min(last, float64(window))
	}
	return work.Op{
		Kind: work.Attention, Format: core, KV: cache, HeadDim: a.QK, SeqQ: s, Groups: a.Sequences * a.Heads, Count: 1,
		Sequences: a.Sequences, KVHeads: a.KVHeads, SeqKV: last,
		FLOPs: unit.FLOPs(2 * float64(a.QK+a.V) * pairs),
		Bytes: core.Size(tokens*a.Heads*a.QK) + unit.BF16.Size(tokens*a.Heads*a.V) + kvBytes.Size(a.Sequences*keys*a.KVHeads*(a.QK+a.V)),
	}
}

// causalPairs is the query-key pairs of s tokens after prior ones.
func causalPairs(s, prior, window int64) float64 {
	n, p := float64(s), float64(prior)
	full := n*p + n*(n+1)/2
	if w := float64(window); window > 0 && p+n > w {
		over := n - max(w-p, 0) // tokens that see a whole window
		short := n - over
		return short*p + short*(short+1)/2 + over*w
	}
	return full
}

// decodeOp is the core of one query token per sequence over keys of the cache.
func decodeOp(core, cache unit.Format, a layout, keys, window int64) work.Op {
	if window > 0 {
		keys = min(keys, window)
	}
	return work.Op{
		Kind: work.Attention, Format: core, KV: cache, Decode: true, Warm: true, HeadDim: a.QK, SeqQ: 1, Groups: a.Sequences * a.Heads, Count: 1,
		Sequences: a.Sequences, KVHeads: a.KVHeads, SeqKV: float64(keys),
		FLOPs: unit.FLOPs(2 * float64(a.QK+a.V) * float64(a.Sequences*a.Heads) * float64(keys)),
		Bytes: cache.Size(a.Sequences*keys*a.KVHeads*(a.QK+a.V)) + unit.BF16.Size(a.Sequences*a.Heads*(a.QK+a.V)),
	}
}

// expanded is latent attention of a prompt, expanded to heads.
func expanded(core, cache unit.Format, batch, heads, s, prior int64) work.Op {
	return contextOp(core, cache, layout{Sequences: batch, Heads: heads, KVHeads: heads, QK: hw.MLADim, V: mlaV}, s, prior, 0)
}

// absorbed is latent attention's decode: all heads share one key of latent + rope,
// whose latent is the value as well and is read once.
func absorbed(core, cache unit.Format, batch, heads, keys int64) work.Op {
	op := decodeOp(core, cache, layout{Sequences: batch, Heads: heads, KVHeads: 1, QK: mlaLatent + mlaRope, V: mlaLatent}, keys, 0)
	op.Bytes -= cache.Size(batch*keys*(2*mlaLatent+mlaRope)) - cache.Size(batch*keys*(mlaLatent+mlaRope))
	return op
}

// moduleContextRow is a whole latent-attention block over a prompt.
func moduleContextRow(c *cells, i int, x *sample) string {
	f, ok := formats[c.is("gemm_type", i)]
	core, cache, why := c.operands("mla_dtype", i)
	if !ok {
		why = "unknown gemm_type " + c.is("gemm_type", i)
	}
	if why == "" {
		why = cmp.Or(c.positive(i, "batch_size", "isl", "num_heads"), c.sensible(i, "step"))
	}
	if why != "" {
		return why
	}
	batch, s, heads := c.at("batch_size", i), c.at("isl", i), c.at("num_heads", i)
	x.project(f.product, batch*s, heads)
	x.ops = append(x.ops, gemmOp(f.product, batch*s, heads*(mlaNope+mlaV), mlaLatent), expanded(core, cache, batch, heads, s, c.at("step", i)))
	x.block, x.module = true, hw.ContextModule
	return c.latency(i, x)
}

// moduleDecodeRow is a whole latent-attention block of a decode step, absorbed.
func moduleDecodeRow(c *cells, i int, x *sample) string {
	f, ok := formats[c.is("gemm_type", i)]
	core, cache, why := c.operands("mla_dtype", i)
	if !ok {
		why = "unknown gemm_type " + c.is("gemm_type", i)
	}
	if why == "" {
		why = cmp.Or(c.positive(i, "batch_size", "num_heads"), c.sensible(i, "step"))
	}
	if why != "" {
		return why
	}
	batch, heads := c.at("batch_size", i), c.at("num_heads", i)
	x.project(f.product, batch, heads)
	x.ops = append(x.ops, perHead(heads, batch, mlaLatent, mlaNope), absorbed(core, cache, batch, heads, c.at("step", i)+1), perHead(heads, batch, mlaV, mlaLatent))
	x.block, x.module = true, hw.DecodeModule
	return c.latency(i, x)
}

// project adds the projections that both phases have.
func (x *sample) project(f unit.Format, tokens, heads int64) {
	x.ops = append(x.ops,
		gemmOp(f, tokens, mlaQRank+mlaLatent+mlaRope, mlaHidden),
		gemmOp(f, tokens, heads*hw.MLADim, mlaQRank),
		gemmOp(f, tokens, mlaHidden, heads*mlaV))
}

// perHead is one 16-bit product per head.
func perHead(heads, m, n, k int64) work.Op {
	op := gemmOp(unit.BF16, m, n, k)
	op.Groups = heads
	op.FLOPs *= unit.FLOPs(heads)
	op.Bytes *= unit.Bytes(heads)
	return op
}
