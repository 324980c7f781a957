package validate

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Published training runs of which no row tells and to which nothing was fitted, as their papers describe
// them; measured is what follows from a paper's iteration time, or from its FLOP/s by its own formula.
func TestRunsPublishedElsewhere(t *testing.T) {
	const seq = 2048
	// The FLOPs of a token with full recomputation, arXiv:2104.04473 equation 3.
	flops := func(layers, hidden float64) float64 {
		return 96 * layers * hidden * hidden * (1 + seq/(6*hidden) + 51200/(16*layers*hidden))
	}
	iteration := func(batch, gpus int, seconds float64) float64 { return float64(batch*seq) / seconds / float64(gpus) }
	const table5, table1, llama = "arXiv:2205.05198 table 5", "arXiv:2104.04473 table 1", "arXiv:2407.21783 table 4"
	for _, c := range []struct {
		citation, source, model, gpu, precision          string
		gpus, seq, batch, mbs, tp, pp, vpp, cp, dp, zero int
		recompute                                        string
		measured                                         float64 // tokens per second and GPU
		within                                           float64
	}{
		// Iterations of 1.42 and 1.10 s, 18.13 and 13.75 s, 94.42 and 71.49 s.
		{table5, "selrec", "megatron-22b", "a100-80gb", "bf16", 8, seq, 4, 4, 8, 1, 1, 1, 1, 0, "full", iteration(4, 8, 1.42), 0.12},
		{table5, "selrec", "megatron-22b", "a100-80gb", "bf16", 8, seq, 4, 4, 8, 1, 1, 1, 1, 0, "selective", iteration(4, 8, 1.10), 0.12},
		{table5, "selrec", "megatron-175b", "a100-80gb", "bf16", 64, seq, 64, 1, 8, 8, 3, 1, 1, 0, "full", iteration(64, 64, 18.13), 0.12},
		{table5, "selrec", "megatron-175b", "a100-80gb", "bf16", 64, seq, 64, 1, 8, 8, 3, 1, 1, 0, "selective", iteration(64, 64, 13.75), 0.12},
		{table5, "selrec", "megatron-1t", "a100-80gb", "bf16", 512, seq, 512, 1, 8, 64, 1, 1, 1, 0, "full", iteration(512, 512, 94.42), 0.12},
		{table5, "selrec", "megatron-1t", "a100-80gb", "bf16", 512, seq, 512, 1, 8, 64, 1, 1, 1, 0, "selective", iteration(512, 512, 71.49), 0.12},
		// 148 and 163 TFLOP/s and GPU. Neither micro-batches nor virtual stages stand in the table: one sequence, none.
		{table1, "selrec", "megatron-145b", "a100-80gb", "fp16", 1536, seq, 2304, 1, 8, 8, 1, 1, 24, 0, "full", 148e12 / flops(80, 12288), 0.10},
		{table1, "selrec", "megatron-1t", "a100-80gb", "fp16", 3072, seq, 3072, 1, 8, 64, 1, 1, 6, 0, "full", 163e12 / flops(128, 25600), 0.10},
		// 430 and 400 TFLOP/s and GPU; a causal token of 8,192 is 2,524 GFLOP. Interleaved by section 3.3.2, which does not say
		// how finely: a layer each, the first and the last stage one fewer.
		{llama, "llama3", "llama-3.1-405b", "h100", "bf16", 8192, 8192, 2048, 1, 8, 16, 8, 1, 64, 1, "none", 430e12 / 2524e9, 0.10},
		{llama, "llama3", "llama-3.1-405b", "h100", "bf16", 16384, 8192, 2048, 1, 8, 16, 8, 1, 128, 1, "none", 400e12 / 2524e9, 0.10},
	} {
		line := fmt.Sprintf("a,%s,%s,,%s,%d,%s,%d,%d,%d,%d,%d,%d,%d,1,%d,%d,,%s,,,%g,,%s\n", c.source, c.model, c.gpu, c.gpus, c.precision, c.seq,
			c.batch, c.mbs, c.tp, c.pp, c.vpp, c.cp, c.dp, c.zero, c.recompute, c.measured, strings.ReplaceAll(c.citation, ",", ";"))
		runs, bad, err := ReadRuns(strings.NewReader(header+"\n"+line), "t")
		if err != nil || len(bad) > 0 {
			t.Fatal(bad, err)
		}
		x, err := (&Predictor{}).Predict(&runs[0])
		if err != nil {
			t.Fatal(err)
		}
		off := x.TokensPerSecondPerGPU()/c.measured - 1
		t.Logf("%s, %d GPUs, recompute %s: %.1f tokens/s and GPU, %.1f published, %+.1f %% (%s)", c.model, c.gpus, c.recompute, x.TokensPerSecondPerGPU(), c.measured, 100*off, c.citation)
		if math.Abs(off) > c.within {
			t.Errorf("%s, %d GPUs, recompute %s: %+.1f %% off, %.0f %% at most", c.model, c.gpus, c.recompute, 100*off, 100*c.within)
		}
	}
}
