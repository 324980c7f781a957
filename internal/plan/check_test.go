package plan_test

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
)

func mustModel(t *testing.T, name string) *model.Model {
	t.Helper()
	m, err := catalog.Model(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// of fills the degrees that a row leaves out with 1.
func of(p plan.Plan) *plan.Plan {
	for _, d := range []*int{&p.TP, &p.CP, &p.PP, &p.DP, &p.VPP, &p.EP, &p.ETP, &p.MicroBatch} {
		if *d == 0 {
			*d = 1
		}
	}
	return &p
}

// shape is a job without its model.
type shape struct{ gpus, node, batch, seq int }

// TestCheck has a legal and an illegal row for every rule; where a row is
// illegal, Explain says so in one line with the value and the mend.
func TestCheck(t *testing.T) {
	llama, v3, qwen := mustModel(t, "llama-3-8b"), mustModel(t, "deepseek-v3"), mustModel(t, "qwen3-235b-a22b")
	tall := *llama // one layer of 72 heads with 12 of keys and values
	tall.Layers = []model.Layer{llama.Layers[0]}
	tall.Layers[0].Attention.Heads, tall.Layers[0].Attention.KVHeads = 72, 12
	node := shape{8, 8, 64, 4096}
	for _, c := range []struct {
		says string
		m    *model.Model
		j    shape
		p    plan.Plan
		want plan.Cause
		line string // part of the explanation
	}{
		{"pure data parallelism", llama, node, plan.Plan{DP: 8}, plan.Legal, ""},
		{"DeepSeek-V3's own plan (arXiv:2412.19437 section 3.2)", v3, shape{2048, 8, 15360, 4096},
			plan.Plan{PP: 16, DP: 128, EP: 64, ZeRO: 1, Schedule: sched.DualPipe}, plan.Legal, ""},
		{"a negative degree", llama, node, plan.Plan{DP: -8, TP: -1}, plan.BadDegree, "at least 1"},
		{"16 of 8 GPUs", llama, node, plan.Plan{DP: 8, TP: 2}, plan.BadWorld, "is 16 GPUs, the cluster has 8"},
		{"4 of 8 GPUs", llama, node, plan.Plan{DP: 4}, plan.BadWorld, "is 4 GPUs"},

		{"32 layers on 32 stages", llama, shape{32, 8, 64, 4096}, plan.Plan{PP: 32}, plan.Legal, ""},
		{"32 layers on 34 stages: embedding and head alone", llama, shape{34, 0, 64, 4096}, plan.Plan{PP: 34}, plan.Legal, ""},
		{"32 layers on 64 stages", llama, shape{64, 8, 64, 4096}, plan.Plan{PP: 64}, plan.BadLayers, "32 layers"},
		{"32 layers on 8 x 5 chunks", llama, node, plan.Plan{PP: 8, VPP: 5, Schedule: sched.Interleaved}, plan.BadLayers, "40 model parts"},
		{"a V needs two chunks per stage", llama, shape{32, 8, 64, 4096}, plan.Plan{PP: 32, Schedule: sched.ZBV}, plan.BadLayers, "64 model parts"},

		{"8 kv heads on 8 ranks", llama, node, plan.Plan{TP: 8, SP: true}, plan.Legal, ""},
		{"two copies of each of 4 kv heads", qwen, node, plan.Plan{TP: 8, SP: true}, plan.Legal, ""},
		{"32 heads on 3 ranks", llama, shape{3, 3, 64, 4098}, plan.Plan{TP: 3}, plan.BadHeads, "32 attention heads of layer 0"},
		{"FFN width 14336 on 9 ranks, 8 heads each", &tall, shape{9, 9, 64, 4095}, plan.Plan{TP: 9}, plan.BadHeads, "FFN width 14336"},
		{"12 kv heads on 8 ranks", &tall, node, plan.Plan{TP: 8}, plan.BadHeads, "12 key/value heads"},
		{"the all-to-all splits heads by cp too", llama, shape{64, 8, 64, 4096}, plan.Plan{CP: 64, CPAllToAll: true}, plan.BadHeads, "cp=64"},
		{"the ring does not", llama, shape{64, 8, 64, 8192}, plan.Plan{CP: 64}, plan.Legal, ""},

		{"8 of 256 experts per rank", v3, shape{32, 8, 64, 4096}, plan.Plan{DP: 32, EP: 32}, plan.Legal, ""},
		{"experts over dp x tp / etp = 8 ranks", v3, node, plan.Plan{TP: 2, DP: 4, EP: 8, SP: true}, plan.Legal, ""},
		{"ep of a dense model", llama, node, plan.Plan{DP: 8, EP: 8}, plan.BadExperts, "is dense"},
		{"etp of a dense model", llama, node, plan.Plan{TP: 8, ETP: 8}, plan.BadExperts, "is dense"},
		{"256 experts over 3", v3, shape{3, 3, 64, 4096}, plan.Plan{DP: 3, EP: 3}, plan.BadExperts, "256 experts"},
		{"ep beyond the ranks", v3, node, plan.Plan{DP: 8, EP: 16}, plan.BadExperts, "8 expert ranks"},
		{"etp that does not divide tp", v3, node, plan.Plan{TP: 2, DP: 4, ETP: 4, SP: true}, plan.BadExperts, "etp the width and tp"},

		{"64 sequences over 8 ranks x 3", llama, node, plan.Plan{DP: 8, MicroBatch: 3}, plan.BadBatch, "multiple of 24"},
		{"an empty batch", llama, shape{8, 8, 0, 4096}, plan.Plan{DP: 8}, plan.BadBatch, "global batch 0"},
		{"4097 tokens under sp", llama, shape{8, 8, 64, 4097}, plan.Plan{TP: 8, SP: true}, plan.BadSequence, "4097"},
		{"the ring pairs blocks: 4100 = 4 x 1025", llama, shape{4, 8, 64, 4100}, plan.Plan{CP: 4}, plan.BadSequence, "two blocks"},
		{"the all-to-all does not", llama, shape{4, 8, 64, 4100}, plan.Plan{CP: 4, CPAllToAll: true}, plan.Legal, ""},

		{"interleaved", llama, node, plan.Plan{PP: 8, VPP: 4, Schedule: sched.Interleaved}, plan.Legal, ""},
		{"interleaved with one chunk", llama, node, plan.Plan{PP: 8, Schedule: sched.Interleaved}, plan.BadSchedule, "vpp >= 2"},
		{"interleaved over 8 stages with 4 micro-batches", llama, shape{8, 8, 4, 4096}, plan.Plan{PP: 8, VPP: 2, Schedule: sched.Interleaved}, plan.BadSchedule, "multiples of pp=8"},
		{"virtual stages of 1f1b", llama, node, plan.Plan{PP: 8, VPP: 2}, plan.BadSchedule, "use interleaved"},
		{"gpipe on one stage", llama, node, plan.Plan{DP: 8, Schedule: sched.GPipe}, plan.BadSchedule, "1f1b for pp=1"},
		{"dualpipe on 3 stages", llama, shape{3, 3, 64, 4096}, plan.Plan{PP: 3, Schedule: sched.DualPipe}, plan.BadSchedule, "even pp"},
		{"dualpipe with fewer than 2 x pp micro-batches", llama, shape{8, 8, 8, 4096}, plan.Plan{PP: 8, Schedule: sched.DualPipe}, plan.BadSchedule, "16 micro-batches"},
		{"dualpipe-v with fewer", llama, shape{8, 8, 8, 4096}, plan.Plan{PP: 8, Schedule: sched.DualPipeV}, plan.BadSchedule, "dualpipe-v needs"},

		{"HSDP over nodes", llama, shape{64, 8, 64, 4096}, plan.Plan{DP: 64, ZeRO: 3, ShardGroup: 8}, plan.Legal, ""},
		{"a shard group of 3 in 8", llama, node, plan.Plan{DP: 8, ZeRO: 3, ShardGroup: 3}, plan.BadShard, "dp x cp = 8"},

		{"a shard group of 4 over 6 replicas of each expert", v3, shape{24, 24, 24, 4096}, plan.Plan{DP: 24, EP: 4, ZeRO: 3, ShardGroup: 4}, plan.BadShard, "6 replicas"},

		{"sp without tp", llama, node, plan.Plan{DP: 8, SP: true}, plan.BadCombination, "sp=1 needs tp > 1"},
		{"experts whole beside tp without sp", v3, node, plan.Plan{TP: 8}, plan.BadCombination, "needs sp=1"},
		{"experts cut as tp cuts, without sp", v3, node, plan.Plan{TP: 8, ETP: 8}, plan.Legal, ""},
		{"the same where the node is unknown", v3, shape{8, 0, 64, 4096}, plan.Plan{TP: 8}, plan.BadCombination, "needs sp=1"},
		{"tp of 12 over nodes of 8", mustModel(t, "gpt3-175b"), shape{12, 8, 64, 4096}, plan.Plan{TP: 12}, plan.BadCombination, "nodes of 8"},
		{"adapters without a rank", llama, node, plan.Plan{DP: 8, Tuning: plan.LoRA}, plan.BadCombination, "rank=16"},
		{"a rank without adapters", llama, node, plan.Plan{DP: 8, LoRARank: 8}, plan.BadCombination, "tuning=lora"},
		{"gradients sharded under a pipeline", llama, node, plan.Plan{PP: 8, ZeRO: 2}, plan.BadCombination, "zero=2"},
	} {
		j, p := plan.NewJob(c.m, c.j.gpus, c.j.node, c.j.batch, c.j.seq, 0), of(c.p)
		got := p.Check(j)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.says, got, c.want)
			continue
		}
		err := p.Explain(got, j)
		if got == plan.Legal {
			if err != nil {
				t.Errorf("%s: legal, explained as %v", c.says, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.line) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), ":") {
			t.Errorf("%s: explained as %v, want one line with %q and a mend", c.says, err, c.line)
		}
	}
}

// TestRanks: expert parallelism is carved out of data, context and tensor
// parallelism; its replicas are what is left (Megatron-LM pull request 6782).
func TestRanks(t *testing.T) {
	for _, c := range []struct {
		says                                  string
		p                                     plan.Plan
		gpus, experts, edp, replicas, shards  int
		expertReplicas, expertShards, batches int
	}{
		{"DeepSeek-V3: 64 of 128 ranks hold different experts, DualPipe twice", plan.Plan{PP: 16, DP: 128, EP: 64, Schedule: sched.DualPipe},
			2048, 128, 2, 256, 256, 4, 4, 120},
		{"etp below tp spreads experts over tp as well", plan.Plan{TP: 4, CP: 2, DP: 8, EP: 16, ETP: 2}, 64, 32, 2, 16, 16, 2, 2, 1920},
		{"HSDP's group bounds both", plan.Plan{DP: 64, EP: 4, ShardGroup: 8}, 64, 64, 16, 64, 8, 16, 8, 240},
		{"experts with fewer replicas than the group", plan.Plan{DP: 64, EP: 32, ShardGroup: 8}, 64, 64, 2, 64, 8, 2, 2, 240},
	} {
		p := of(c.p)
		got := [...]int{p.GPUs(), p.ExpertRanks(), p.ExpertDP(), p.Replicas(), p.Shards(), p.ExpertReplicas(), p.ExpertShards(), p.MicroBatches(15360)}
		want := [...]int{c.gpus, c.experts, c.edp, c.replicas, c.shards, c.expertReplicas, c.expertShards, c.batches}
		if got != want {
			t.Errorf("%s: %v, want %v", c.says, got, want)
		}
	}
}
