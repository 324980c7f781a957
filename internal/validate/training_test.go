package validate

import (
	"context"
	"math"
	"strings"
	"testing"
)

// Targets over all published runs; docs/accuracy.md says by group what is reached.
func TestPublishedRuns(t *testing.T) {
	runs := published(t)
	d := Training(t.Context(), runs, nil, &Predictor{})
	for _, s := range d.Skipped {
		t.Logf("skipped %s: %s", s.ID, s.Reason)
	}
	if d.Rows != len(runs) || d.Scored+len(d.Skipped) != d.Rows {
		t.Errorf("%d rows, %d scored, %d skipped", d.Rows, d.Scored, len(d.Skipped))
	}
	if share := float64(d.Scored) / float64(d.Rows); share < 0.97 {
		t.Errorf("%.3f of the rows scored, want 0.97", share)
	}
	speed, memory := d.Metrics[MetricThroughput], d.Metrics[MetricMemory]
	t.Logf("speed %+v memory %+v", speed, memory)
	if speed.MedianAPE > 0.045 || speed.MAPE > 0.075 || math.Abs(speed.Bias) > 0.04 {
		t.Errorf("throughput: %+v", speed)
	}
	if dense := d.cut(CutDense); dense.MedianAPE > 0.05 || dense.MAPE > 0.08 {
		t.Errorf("dense, layout and recomputation known: %+v", *dense)
	}
	if moe := d.cut(CutMoE); moe.MedianAPE > 0.07 || moe.MAPE > 0.18 {
		t.Errorf("mixture of experts: %+v", *moe)
	}
	if memory.MedianAPE > 0.05 || memory.MAPE > 0.08 || memory.P90APE > 0.12 {
		t.Errorf("memory: %+v", memory)
	}
}

// Attention of early 2025 is unfused where keys are wider than values and the GPU is Blackwell.
func TestWideKeysOfEarly2025(t *testing.T) {
	for _, c := range []struct {
		source, model, gpu string
		unfused            bool
	}{
		{"dgxc", "deepseek-v3", "gb200", true},
		{"dgxc", "deepseek-v3", "h100", false},
		{"dgxc", "qwen3-235b-a22b", "gb200", false}, // equal widths
		{"mbridge", "deepseek-v3", "gb200", false},
	} {
		r := Run{ID: "a", Source: c.source, Model: c.model, GPU: c.gpu, Precision: "bf16", GPUs: 512, Seq: 4096, GlobalBatch: 4096, MicroBatch: 1,
			TP: 2, PP: 8, VPP: 1, CP: 1, EP: 32, DP: 32, ZeRO: 1, MTP: -1, TokensPerSecondPerGPU: 1000}
		var p Predictor
		x, err := p.Predict(&r)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Result.Plan.UnfusedAttn; got != c.unfused {
			t.Errorf("%+v: unfused %v", c, got)
		}
	}
}

// A prediction does not depend on what was measured.
func TestBlindToMeasurement(t *testing.T) {
	runs, _, err := ReadRuns(strings.NewReader(sample), "t")
	if err != nil {
		t.Fatal(err)
	}
	a := Training(t.Context(), runs, nil, &Predictor{})
	for i := range runs {
		runs[i].TokensPerSecondPerGPU *= 1.5 // still below the peak
		runs[i].MemoryFigure *= 1.1
	}
	b := Training(t.Context(), runs, nil, &Predictor{})
	for i := range a.Predictions {
		if a.Predictions[i].Predicted != b.Predictions[i].Predicted {
			t.Errorf("%s: %g became %g", a.Predictions[i].ID, a.Predictions[i].Predicted, b.Predictions[i].Predicted)
		}
	}
}

// What cannot be predicted is listed with one line that says why.
func TestSkippedIsSaid(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"llama-2-7b", "llama-9-7b", `column "model": unknown model`},
		{",h100,", ",h17,", `column "gpu": cluster "h17x8"`},
		{",bf16,", ",fp3,", `column "precision": precision "fp3"`},
		{",none,,", ",none,zb-x,", `column "schedule": "zb-x"`},
		{",none,,", ",nothing,,", `column "recompute": recompute "nothing"`},
		{",1,1,1,1,1,8,1,", ",3,1,1,1,1,8,1,", `columns "tp", "pp", "cp", "dp", "gpus": 3 x 1 x 1 x 8 = 24 do not make 8`},
		{",1,1,1,1,1,8,1,", ",16,1,1,1,1,8,1,", `columns "tp", "gpus": 16 on 8 GPUs`},
		{",1,1,1,1,1,8,1,", ",4,4,1,1,1,,1,", `columns "tp", "pp", "cp", "gpus": 4 x 4 x 1 are more than 8`},
		{",1,1,1,1,1,8,1,", ",1,1,1,1,1,8,7,", `column "zero": 7: give 0, 1, 2 or 3`},
		{",8,1,,none,", ",8,3,1000000,none,", `columns "shard_group", "gpus": 1000000 on 8 GPUs`},
		{",none,,,", ",none,,2,", `column "mtp": 2, and llama-2-7b has 0 MTP modules`},
		{",8,1,,none,", ",8,1,3,none,", `columns "shard_group", "gpus", "tp", "pp": 3 does not divide the 8 ranks`},
		{"llama-2-7b,,h100,8,bf16,4096", "llama-2-7b,,h100,8,bf16,1000000", `column "seq_len": 1000000 tokens exceed the context of llama-2-7b`},
		{",10000,60,", ",9e8,60,", `column "tokens_per_s_per_gpu": 9e+08 make `},
		{",10000,60,", ",10000,90000,", `column "memory_gb": 90000, and a h100-sxm holds `},
		{",10000,60,", ",10000,0.001,", `column "memory_gb": 0.001, and the weights alone take `},
		{"llama-2-7b,", "llama-2-7b,layers=0", `column "arch_params": `},
	} {
		runs, _, err := ReadRuns(strings.NewReader(strings.Replace(sample, c.old, c.new, 1)), "t")
		if err != nil {
			t.Fatal(err)
		}
		d := Training(t.Context(), runs[:1], nil, &Predictor{})
		if d.Scored != 0 || len(d.Skipped) != 1 || d.Malformed != 1 || !strings.Contains(d.Skipped[0].Reason, c.want) || strings.Contains(d.Skipped[0].Reason, "\n") {
			t.Errorf("%q for %q: %+v", c.new, c.old, d.Skipped)
		}
	}
}

// An interrupt leaves out what was not predicted yet.
func TestInterrupted(t *testing.T) {
	runs, _, err := ReadRuns(strings.NewReader(sample), "t")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d := Training(ctx, runs, nil, &Predictor{}); d.Rows != len(runs) || d.Scored != 0 || len(d.Skipped) != 0 {
		t.Errorf("%+v", d)
	}
}

func TestErrorsOf(t *testing.T) {
	e := errorsOf([]float64{1.1, 0.8, 1.4})
	if e.N != 3 || math.Abs(e.MedianAPE-0.2) > 1e-12 || math.Abs(e.MAPE-0.7/3) > 1e-12 || math.Abs(e.Bias-0.1) > 1e-12 || math.Abs(e.P90APE-0.36) > 1e-12 {
		t.Errorf("%+v", e)
	}
	if e := errorsOf(nil); e != (Errors{}) {
		t.Errorf("no ratios: %+v", e)
	}
	if m := median([]float64{4, 1, 3, 2}); m != 2.5 {
		t.Errorf("median %g", m)
	}
}

// What recipes of Megatron-Bridge say beyond the rows holds for them alone: the exchange hides
// where an interleaved pipeline of Blackwell sends it between nodes, and no launch waits for the
// host of a GB200.
func TestBridgeRecipes(t *testing.T) {
	for _, c := range []struct {
		source, gpu       string
		vpp, ep           int
		overlapped, waits bool
	}{
		{"mbridge", "b200", 2, 32, true, false},
		{"mbridge", "b200", 2, 8, false, true},  // inside a node
		{"mbridge", "b200", 1, 32, false, true}, // no second micro-batch
		{"mbridge", "gb200", 2, 32, false, false},
		{"mbridge", "gb200", 1, 32, false, true},
		{"mbridge", "h100", 2, 32, false, true},
		{"dgxc", "b200", 2, 32, false, true},
	} {
		r := Run{ID: "a", Source: c.source, Model: "qwen3-235b-a22b", GPU: c.gpu, Precision: "bf16", GPUs: 256, Seq: 4096, GlobalBatch: 2048, MicroBatch: 1,
			TP: 1, PP: 8, VPP: c.vpp, CP: 1, EP: c.ep, DP: 32, ZeRO: 1, MTP: -1, Recompute: "none", TokensPerSecondPerGPU: 1000}
		var p Predictor
		x, err := p.Predict(&r)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Result.Plan.Overlap.EP; got != c.overlapped || x.Waits != c.waits {
			t.Errorf("%+v: overlapped %v, waits %v", c, got, x.Waits)
		}
	}
}

// Predicted memory hardly ever lies above what a run took by more than memoryDoubt.
func TestMemoryDoubt(t *testing.T) {
	d := Training(t.Context(), published(t), nil, &Predictor{})
	n, above := 0, 0
	for i := range d.Predictions {
		s := &d.Predictions[i]
		if s.MemoryMeasured == nil {
			continue
		}
		n++
		if *s.MemoryPredicted > memoryDoubt**s.MemoryMeasured {
			above++
		}
	}
	if n == 0 || above*50 > n {
		t.Errorf("%d of %d runs are predicted above %.2f of the memory they took: more than one in fifty", above, n, memoryDoubt)
	}
}
