package calib

import (
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// formats are what the tables call formats: of the product and of stored weights.
var formats = map[string]struct{ product, stored unit.Format }{
	"bfloat16": {product: unit.BF16}, "float16": {product: unit.FP16}, "fp8": {product: unit.FP8}, "fp8_block": {product: unit.FP8Block}, "nvfp4": {product: unit.NVFP4},
	"int8_wo":          {unit.BF16, unit.INT8},
	"int4_wo":          {unit.BF16, unit.INT4},
	"sq":               {product: unit.INT8}, // SmoothQuant: 8-bit weights and activations
	"w4a16_mxfp4":      {unit.BF16, unit.MXFP4},
	"w4a8_mxfp4_mxfp8": {unit.MXFP8, unit.MXFP4},
}

var gemmKind = &kind{name: "gemm", text: []string{"gemm_dtype", "kernel_source"}, numbers: []string{"m", "n", "k", "latency"}, row: gemmRow}

func gemmRow(c *cells, i int, x *sample) string {
	f, ok := formats[c.is("gemm_dtype", i)]
	if !ok {
		return "unknown gemm_dtype " + c.is("gemm_dtype", i)
	}
	if why := c.positive(i, "m", "n", "k"); why != "" {
		return why
	}
	op := storedGEMM(f.product, f.stored, c.at("m", i), c.at("n", i), c.at("k", i))
	op.Kernel = c.is("kernel_source", i)
	x.ops = append(x.ops, op)
	return c.latency(i, x)
}

// storedGEMM is a product whose weights may be stored in another format.
func storedGEMM(f, stored unit.Format, m, n, k int64) work.Op {
	op := gemmOp(f, m, n, k)
	if stored != unit.FP32 {
		op.Stored = stored
		op.Bytes += stored.Size(n*k) - f.Size(n*k)
	}
	return op
}

var moeKind = &kind{
	name: "moe", text: []string{"moe_dtype", "distribution", "kernel_source"},
	numbers: []string{"num_tokens", "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size", "latency"}, row: moeRow,
}

func moeRow(c *cells, i int, x *sample) string {
	f, ok := formats[c.is("moe_dtype", i)]
	if !ok {
		return "unknown moe_dtype " + c.is("moe_dtype", i)
	}
	if why := c.positive(i, "num_tokens", "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size"); why != "" {
		return why
	}
	l, why := loadsOf(c.is("distribution", i), c.at("num_tokens", i), c.at("topk", i), c.at("num_experts", i), c.at("moe_ep_size", i))
	if why != "" {
		return why
	}
	hidden, inter := c.at("hidden_size", i), max(c.at("inter_size", i)/c.at("moe_tp_size", i), 1)
	width := 2 * inter
	if c.is("kernel_source", i) == ungated {
		width = inter
	}
	up, down := expertsOp(f.product, f.stored, l, width, hidden), expertsOp(f.product, f.stored, l, hidden, inter)
	up.Choices = float64(c.at("num_tokens", i) * c.at("topk", i))
	down.Choices = up.Choices
	up.Kernel, down.Kernel = c.is("kernel_source", i), c.is("kernel_source", i)
	x.ops = append(x.ops, up, down)
	return c.latency(i, x)
}

// expertsOp is one grouped product of l.rows x K by K x N on l.touched experts.
func expertsOp(f, stored unit.Format, l loads, n, k int64) work.Op {
	weights := f
	if stored != unit.FP32 {
		weights = stored
	}
	return work.Op{
		Kind: work.Grouped, Format: f, Stored: stored, M: max(int64(l.rows/max(l.touched, 1)), 1), N: n, K: k, Groups: max(int64(l.touched), 1), Count: 1,
		Rows: l.rows, Touched: l.touched, Held: l.held, FLOPs: unit.FLOPs(2 * l.rows * float64(n) * float64(k)),
		Bytes: unit.Bytes(l.rows*(float64(k)*f.BytesPer()+2*float64(n)) + l.touched*float64(n)*float64(k)*weights.BytesPer()),
	}
}
