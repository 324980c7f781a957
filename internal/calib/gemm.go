package calib

import (
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// gemmFormats are the tables' names of formats.
var gemmFormats = map[string]unit.Format{
	"bfloat16": unit.BF16, "fp8": unit.FP8, "fp8_block": unit.FP8Block, "nvfp4": unit.NVFP4,
}

// large is the number of tokens from which a row is of the kind that training
// runs; such rows weigh twice in a fit.
const large = 1024

// gemmSamples reads a GEMM table's rows of one format. Outputs are BF16.
func gemmSamples(t *table, dtype string, keep func() bool) ([]sample, error) {
	names, err := t.strings("gemm_dtype")
	if err != nil {
		return nil, err
	}
	c, err := t.numbers("m", "n", "k", "latency")
	if err != nil {
		return nil, err
	}
	var out []sample
	for i, name := range names {
		if name != dtype || !keep() {
			continue
		}
		m, n, k := int64(c["m"][i]), int64(c["n"][i]), int64(c["k"][i])
		x := sample{ops: make([]work.Op, 1), rows: float64(m), elements: float64(m * k), weight: 1}
		x.ops[0] = gemmOp(gemmFormats[dtype], m, n, k)
		if m >= large {
			x.weight = 2
		}
		if x.seconds, err = t.seconds(c["latency"], i); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// gemmOp is an M x K by K x N product of format f with a BF16 result.
func gemmOp(f unit.Format, m, n, k int64) work.Op {
	return work.Op{
		Kind: work.GEMM, Format: f, M: m, N: n, K: k, Groups: 1, Count: 1,
		FLOPs: 2 * unit.FLOPs(m) * unit.FLOPs(n) * unit.FLOPs(k),
		Bytes: f.Size(m*k) + f.Size(n*k) + unit.BF16.Size(m*n),
	}
}
