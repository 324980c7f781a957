package api

import (
	"context"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/launch"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func todayOf(t *testing.T, engine, model, cluster, command string) *TodayRequest {
	t.Helper()
	im, err := launch.ImportWords(engine, launch.Command{Words: strings.Fields(command)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &TodayRequest{Imported: im, ISL: 1024, OSL: 128, Concurrency: 16}
	if r.Model, err = catalog.Model(model); err != nil {
		t.Fatal(err)
	}
	if r.Cluster, err = catalog.Cluster(cluster); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTodayIsInfers: what runs is predicted as infer predicts its plan and settings, and
// what is better keeps today's times and gives more.
func TestTodayIsInfers(t *testing.T) {
	r := todayOf(t, "vllm", "llama-3.1-8b", "h100x8", "vllm serve meta-llama/Llama-3.1-8B -tp 8 --kv-cache-dtype fp8 --max-num-batched-tokens 4096")
	a, err := Today(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.ParseServing("tp=8,replicas=1")
	if err != nil {
		t.Fatal(err)
	}
	i, err := Infer(context.Background(), &InferRequest{Model: r.Model, Clusters: []*hw.Cluster{r.Cluster}, Plan: p, ISL: 1024, OSL: 128,
		Concurrency: []int{16}, Engine: "vllm", KV: []unit.Format{unit.FP8}, Chunk: 4096})
	if err != nil {
		t.Fatal(err)
	}
	today, better := a.Serving.Best.Best, a.Better.Best.Best
	if today.TPOT != i.Best.Best.TPOT || today.TTFT != i.Best.Best.TTFT || today.Layout.GPUs() != 8 {
		t.Errorf("today %s is %v per token, infer says %v", today, today.TPOT, i.Best.Best.TPOT)
	}
	if !a.Better.Met() || better.TPOT > today.TPOT || better.TTFT > today.TTFT || a.Gain() < 0.98 { // alike layouts are ranked by simplicity
		t.Errorf("better %s: %v and %v, %g per GPU; today %v and %v, %g", better, better.TTFT, better.TPOT, better.PerGPU(), today.TTFT, today.TPOT, today.PerGPU())
	}
	// Under a wide objective one GPU does the same work.
	r.SLO = deploy.SLO{TPOT: 1}
	if a, err = Today(context.Background(), r); err != nil || a.Gain() < 1.5 || a.Better.Best.Best.Layout.GPUs() >= 8 {
		t.Errorf("under a second per token %s gives %g times more: %v", a.Better.Best.Best, a.Gain(), err)
	}
}

// TestSequencesOfReplicas: vLLM limits each data-parallel replica, SGLang all of them.
func TestSequencesOfReplicas(t *testing.T) {
	for engine, want := range map[string]int64{"vllm": 64, "sglang": 8} {
		command := map[string]string{"vllm": "vllm serve m -dp 8 -ep --max-num-seqs 8", "sglang": "sglang serve --model m --tp 8 --dp 8 --enable-dp-attention --moe-a2a-backend deepep --max-running-requests 8"}[engine]
		r := todayOf(t, engine, "deepseek-r1", "h200x8", command)
		a, err := Today(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Serving.Request.Slots != want {
			t.Errorf("%s: %d sequences, want %d", engine, a.Serving.Request.Slots, want)
		}
	}
}

// TestTodayLeavesOut: what is not predicted is named.
func TestTodayLeavesOut(t *testing.T) {
	r := todayOf(t, "sglang", "llama-3.1-8b", "h100x8", "python3 -m sglang.launch_server --model-path m --tp-size 2 --kv-cache-dtype fp4_e2m1 --quantization awq --speculative-algorithm NGRAM --speculative-num-steps 3")
	a, err := Today(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Notes) != 3 {
		t.Errorf("notes %q", a.Notes)
	}
}

// TestTodayTrains: a training command is held against the best plan of all.
func TestTodayTrains(t *testing.T) {
	r := todayOf(t, "megatron-lm", "llama-3.1-8b", "h100x16", "torchrun --nproc-per-node 8 --nnodes 2 pretrain_gpt.py --tensor-model-parallel-size 8 --sequence-parallel --use-distributed-optimizer --micro-batch-size 1 --global-batch-size 64 --seq-length 4096 --bf16")
	a, err := Today(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if p := a.Training.Best.Plan; p.TP != 8 || p.DP != 2 || a.Training.Overall == nil || a.Training.Overall.Step > a.Training.Best.Step {
		t.Errorf("today %s, best %v", &p, a.Training.Overall)
	}
	r.Imported.Batch.Global = 0
	if _, err := Today(context.Background(), r); err == nil || !strings.Contains(err.Error(), "--global-batch") {
		t.Errorf("without a batch: %v", err)
	}
}
