package launch

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// TestImportRules: values that an engine refuses together are named with both, and those
// that it takes are not.
func TestImportRules(t *testing.T) {
	const sglang, vllm, torchrun = "python3 -m sglang.launch_server --model-path m ", "vllm serve m ", "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --pipeline-model-parallel-size 2 "
	for _, c := range []struct{ engine, words, plan, says string }{
		{argv.SGLang, sglang + "--tp 8 --ep 4 --moe-a2a-backend deepep", "tp=8,pp=1,dp=1,ep=8", "--ep-size 4 stands beside --tp-size 8"},
		{argv.SGLang, sglang + "--tp 8 --ep 8 --moe-a2a-backend deepep", "tp=8,pp=1,dp=1,ep=8", ""},
		{argv.SGLang, sglang + "--tp 8 --ep 4 --moe-a2a-backend none", "tp=8,pp=1,dp=1,ep=4", ""},
		{argv.SGLang, sglang + "--tp 8 --dp 3 --enable-dp-attention", "", "--dp-size 3 does not divide --tp-size 8"},
		{argv.SGLang, sglang + "--tp 8 --ep 3", "", "ep 3 does not divide the 8 ranks"},
		{argv.SGLang, sglang + "--tp 8 --ep-num-redundant-experts -5", "tp=8,pp=1,dp=1,ep=1", `from 0 on, not "-5"`},
		{argv.VLLM, vllm + "-tp 8 -dcp 3", "", "dcp 3 does not divide tp 8"},
		{argv.VLLM, vllm + "-tp 8 --eplb-config {bad", "tp=8,pp=1,dp=1,ep=1", `--eplb-config takes JSON, not "{bad"`},
		{argv.VLLM, vllm + `-tp 8 --eplb-config {"num_redundant_experts":-5}`, "tp=8,pp=1,dp=1,ep=1", `from 0 on, not "-5"`},
		{argv.VLLM, vllm + `-tp 8 --eplb-config {"num_redundant_experts":32}`, "tp=8,pp=1,dp=1,ep=1", ""},
		{argv.MegatronLM, torchrun + "--num-layers 60 --pipeline-model-parallel-layout Et*30|t*31L", "", "holds 61 t and --num-layers is 60"},
		{argv.MegatronLM, torchrun + "--num-layers 61 --pipeline-model-parallel-layout Et*30|t*31L", "", ""},
		{argv.MegatronLM, torchrun + "--num-layers 4 --pipeline-model-parallel-layout tt|ttL", "", "holds 0 E"},
		{argv.MegatronLM, torchrun + "--num-layers 4 --mtp-num-layers 1 --pipeline-model-parallel-layout Ett|ttL", "", "holds 0 m and --mtp-num-layers is 1"},
		{argv.MegatronLM, torchrun + "--global-batch-size 7 --micro-batch-size 2", "", "--global-batch-size 7 does not divide by --micro-batch-size 2 x dp 8 = 16"},
		{argv.MegatronLM, torchrun + "--global-batch-size 32 --micro-batch-size 2", "", ""},
		{argv.MegatronLM, "pretrain_gpt.py --global-batch-size 7 --micro-batch-size 2", "", "--global-batch-size 7 does not divide by --micro-batch-size 2"},
	} {
		im, err := ImportWords(c.engine, Command{Words: strings.Fields(c.words)}, nil)
		if err != nil {
			t.Errorf("%s: %v", c.words, err)
			continue
		}
		if doubts := strings.Join(append(im.IllegalValues, im.Warnings...), "\n"); !strings.Contains(doubts, c.says) || c.says == "" && doubts != "" {
			t.Errorf("%s: doubts %q, want %q", c.words, doubts, c.says)
		}
		if im.Batch == nil && im.PlanText != c.plan {
			t.Errorf("%s: plan %q, want %q", c.words, im.PlanText, c.plan)
		}
	}
}

// TestMessages: what is wrong is said on one line, and only what is wrong.
func TestMessages(t *testing.T) {
	for _, c := range []struct{ layout, says string }{
		{"Et*9999999|L", "repeats more than 65536 times"}, {"Et*99999999999999999999|L", "repeats more than 65536 times"}, {"Et*|L", "has a * without a number"},
	} {
		if _, err := LayoutStages(c.layout); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s", c.layout, err, c.says)
		}
	}
	if _, err := documents("f", []byte("a: [")); err == nil || strings.Contains(err.Error(), "tabs") {
		t.Errorf("YAML without tabs: %v", err)
	}
	im, err := ImportWords(argv.VLLM, Command{Words: []string{"vllm", "serve", "m", "-tp", "$(a\nb)"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(im.Warnings) != 1 || strings.Contains(im.Warnings[0], "\n") || !strings.Contains(im.Warnings[0], `"$(a\nb)"`) {
		t.Errorf("warnings %q", im.Warnings)
	}
	for version, ok := range map[string]bool{"0.26": true, "v0.26.0": true, "0.26.0": true, "0.2": false, "0.26.1": false, "0": false, "0.260": false} {
		if _, err := argv.Load(argv.VLLM, version); (err == nil) != ok {
			t.Errorf("vllm %s: %v", version, err)
		}
	}
}
