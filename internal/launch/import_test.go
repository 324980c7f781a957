package launch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// TestImportWords: what commands of each engine mean.
func TestImportWords(t *testing.T) {
	for _, c := range []struct{ says, engine, words, plan, model string }{
		{"vLLM's experts lie on tp x dp ranks", argv.VLLM, "vllm serve m -tp 4 -dp 8 -ep", "tp=4,pp=1,dp=8,ep=32", "m"},
		{"without the switch they are cut by tp", argv.VLLM, "vllm serve m --tensor-parallel-size=8", "tp=8,pp=1,dp=1,ep=1", "m"},
		{"the older entry point", argv.VLLM, "python -m vllm.entrypoints.openai.api_server --model m -tp 2", "tp=2,pp=1,dp=1,ep=1", "m"},
		{"SGLang's attention DP splits tp", argv.SGLang, "python3 -m sglang.launch_server --model-path m --tp 16 --dp 16 --enable-dp-attention --ep 16", "tp=1,pp=1,dp=16,ep=16", "m"},
		{"without it dp makes replicas", argv.SGLang, "sglang serve --model m --tp 8 --dp 2", "tp=8,pp=1,dp=1,ep=1,replicas=2", "m"},
		{"DeepEP sets ep = tp", argv.SGLang, "--model m --tp 8 --dp 8 --enable-dp-attention --moe-a2a-backend deepep", "tp=1,pp=1,dp=8,ep=8", "m"},
		{"TensorRT-LLM's attention DP takes every rank", argv.TRTLLM, "mpirun -n 1 trtllm-serve m --tp_size 8 --ep_size 8 --enable_attention_dp", "tp=1,pp=1,dp=8,ep=8", "m"},
		{"a latency recipe with ep below tp", argv.TRTLLM, "trtllm-serve m --tp_size=8 --ep_size=2", "tp=8,pp=1,dp=1,ep=2", "m"},
		{"llama.cpp over three rpc workers and itself", argv.LlamaCPP, "llama-server -m f.gguf --rpc a:1,b:1,c:1", "tp=1,pp=4,dp=1,ep=1", "f.gguf"},
		{"Megatron-LM under torchrun", argv.MegatronLM, "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 --micro-batch-size 1 --use-distributed-optimizer --sequence-parallel",
			"tp=2,pp=4,vpp=1,dp=4,cp=1,ep=1,zero=1,schedule=1f1b,mbs=1,recompute=none,sp=1", ""},
		{"a layout of 32 stages on 16 ranks", argv.MegatronLM, "--pipeline-model-parallel-size 16 --pipeline-model-parallel-layout Et*3|(tt|)*29,m|L --recompute-granularity full",
			"tp=1,pp=16,vpp=2,cp=1,ep=1,zero=0,schedule=interleaved,recompute=full", ""},
		{"torchtitan with hybrid sharding", argv.TorchTitan, "--module llama3 --config llama3_8b --parallelism.data_parallel_shard_degree 8 --parallelism.data_parallel_replicate_degree=4",
			"dp=32,zero=3,shard=8", "llama3_8b"},
		{"Megatron-Bridge overrides", argv.MegatronBridge, "model.tensor_model_parallel_size=2 model.pipeline_model_parallel_size=8 train.micro_batch_size=1", "tp=2,pp=8,vpp=1,cp=1,ep=1,zero=1,schedule=1f1b,mbs=1,recompute=none", ""},
		{"an unknown size leaves no plan", argv.VLLM, "vllm serve m -tp $TP", "", "m"},
	} {
		im, err := ImportWords(c.engine, Command{Words: strings.Fields(c.words)}, nil)
		if err != nil {
			t.Errorf("%s: %v", c.says, err)
			continue
		}
		if im.PlanText != c.plan || im.Model != c.model {
			t.Errorf("%s: plan %s of %q, want %s of %q", c.says, im.PlanText, im.Model, c.plan, c.model)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	for _, c := range []struct{ says, engine, words, err string }{
		{"no command", argv.VLLM, "echo hello", "no command of vllm"},
		{"no words", argv.VLLM, "", "no command of vllm"},
		{"a size that is no number", argv.VLLM, "vllm serve m -tp eight", `"eight" is not a whole number`},
		{"a size below one", argv.SGLang, "--tp 0", `"0" is not a whole number`},
		{"a size without its value", argv.VLLM, "vllm serve m -tp", "needs a value"},
		{"an orchestrator", argv.TRTLLM, "trtllm-serve disaggregated -c f.yaml", "each worker"},
		{"a layout that the ranks do not divide", argv.MegatronLM, "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et|t|L", "3 stages"},
		{"a layout with a strange letter", argv.MegatronLM, "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et|xL", `"x"`},
		{"an engine that is none", "tgi", "x", "use one of"},
	} {
		_, err := ImportWords(c.engine, Command{Words: strings.Fields(c.words)}, nil)
		if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.says, err, c.err)
		}
	}
}

func TestImportReportsFlags(t *testing.T) {
	im, err := ImportWords(argv.VLLM, Command{Words: strings.Fields("vllm serve m -tp 2 -tp 4 --swap-space 16 --kv-cache-dtype fp9")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if im.Degrees.TP != 4 {
		t.Errorf("tp %d, want the last: 4", im.Degrees.TP)
	}
	if d := cmp.Diff([]string{"--swap-space"}, im.UnknownFlags); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"--tensor-parallel-size"}, im.RepeatedFlags); d != "" {
		t.Error(d)
	}
	if len(im.IllegalValues) != 1 || len(im.Warnings) != 1 {
		t.Errorf("illegal %q, warnings %q", im.IllegalValues, im.Warnings)
	}
}

const script = `#!/bin/bash
#SBATCH --nodes=2
export MODEL="deepseek-ai/DeepSeek-R1"   # a comment
TP=${TP_SIZE:-8}
ARGS=(--trust-remote-code --max-model-len 4096)
ARGS+=(--no-enable-prefix-caching)
if [ -n "$DEBUG" ]; then ls "$(dangerous command)"; fi
NCCL_DEBUG=INFO srun bash -c 'vllm serve "$MODEL" \
  --tensor-parallel-size '"$TP"' "${ARGS[@]}"'
`

const lws = `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: x}
spec:
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      spec:
        containers:
        - name: leader
          image: i
          env: [{name: TP, value: "16"}]
          command: [sh, -c, "python3 -m sglang.launch_server --model-path m --tp $TP --dist-init-addr $(LWS_LEADER_ADDRESS):5000"]
---
apiVersion: v1
kind: Service
metadata: {name: x}
`

// wideEP is a group whose script counts ranks, as llm-d's wide-EP guide writes it.
const wideEP = `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        initContainers:
        - {image: proxy, args: [--port=8000, --connector=nixlv2]}
        containers:
        - image: i
          command: [/bin/bash, -c]
          args:
          - |-
            START_RANK=$(( ${LWS_WORKER_INDEX:-0} * DP_SIZE_LOCAL ))
            exec vllm serve m --enable-expert-parallel --data-parallel-hybrid-lb \
              --tensor-parallel-size $TP_SIZE \
              --data-parallel-size $((LWS_GROUP_SIZE * DP_SIZE_LOCAL)) \
              --data-parallel-address ${LWS_LEADER_ADDRESS} --data-parallel-start-rank $START_RANK
          env:
          - {name: DP_SIZE_LOCAL, value: "8"}
          - {name: TP_SIZE, value: "1"}
`

func TestImportFiles(t *testing.T) {
	for _, c := range []struct{ says, engine, text, plan string }{
		{"a Slurm script with variables, an array and an inner script", argv.VLLM, script, "tp=8,pp=1,dp=1,ep=1"},
		{"words that only running would tell", argv.VLLM, "vllm serve <(echo hi) -tp 4 \"$(id)\" `id` ${X@Q} $((1/0)) {1..3}\n", "tp=4,pp=1,dp=1,ep=1"},
		{"a manifest of two documents", argv.SGLang, lws, "tp=16,pp=1,dp=1,ep=1"},
		{"a Compose file", argv.LlamaCPP, "services:\n  s:\n    image: i\n    command: llama-server -m f.gguf -ts 1,1\n", "tp=1,pp=2,dp=1,ep=1"},
		{"container arguments with $(NAME)", argv.VLLM, "kind: Pod\nspec:\n  containers:\n  - image: i\n    env: [{name: N, value: '2'}]\n    command: [vllm, serve]\n    args: [m, -tp, $(N)]\n", "tp=2,pp=1,dp=1,ep=1"},
		{"arguments of an image whose entrypoint is the engine", argv.VLLM, "kind: Pod\nspec:\n  containers:\n  - image: vllm/vllm-openai:v0.26.0\n    args: [--model, m, -tp, '2']\n", "tp=2,pp=1,dp=1,ep=1"},
		{"the same of a Compose file", argv.VLLM, "services:\n  s:\n    image: r.example/vllm/vllm-openai@sha256:0\n    command: m -tp 2\n", "tp=2,pp=1,dp=1,ep=1"},
		{"the same of llama.cpp", argv.LlamaCPP, "services:\n  s:\n    image: ghcr.io/ggml-org/llama.cpp:server-cuda\n    command: -m f.gguf -ts 1,1\n", "tp=1,pp=2,dp=1,ep=1"},
		{"docker run", argv.VLLM, "docker run --gpus all -p 8000:8000 vllm/vllm-openai:latest --model m --tensor-parallel-size 4\n", "tp=4,pp=1,dp=1,ep=1"},
		{"a command beside such an image", argv.VLLM, "kind: Pod\nspec:\n  containers:\n  - image: vllm/vllm-openai\n    command: [vllm, serve, m, -tp, '2']\n", "tp=2,pp=1,dp=1,ep=1"},
		{"sizes that LeaderWorkerSet sets", argv.VLLM, wideEP, "tp=1,pp=1,dp=16,ep=16"},
		{"sizes that sbatch sets", argv.MegatronLM, "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gres=gpu:h100:8\nsrun torchrun --nnodes $SLURM_NNODES --nproc_per_node ${SLURM_GPUS_ON_NODE:-4} pretrain_gpt.py --tensor-model-parallel-size 8\n",
			"tp=8,pp=1,vpp=1,dp=4,cp=1,ep=1,zero=0,schedule=1f1b,recompute=none"},
		{"a systemd unit", argv.VLLM, "[Unit]\nDescription=vLLM for us\n[Service]\nEnvironment=\"TP=4\"\nExecStart=-/opt/venv/bin/vllm serve m \\\n  -tp ${TP}\nRestart=always\n", "tp=4,pp=1,dp=1,ep=1"},
		{"TensorRT-LLM's YAML alone", argv.TRTLLM, "tensor_parallel_size: 8\nmoe_expert_parallel_size: 8\nenable_attention_dp: true\n", "tp=1,pp=1,dp=8,ep=8"},
		{"settings of Megatron-Bridge", argv.MegatronBridge, "model:\n  tensor_model_parallel_size: 2\n  context_parallel_size: 2\n", "tp=2,pp=1,vpp=1,cp=2,ep=1,zero=1,schedule=1f1b,recompute=none"},
	} {
		im, err := ImportFile(c.engine, "f", []byte(c.text), nil)
		if err != nil {
			t.Errorf("%s: %v", c.says, err)
			continue
		}
		if im.PlanText != c.plan {
			t.Errorf("%s: plan %s, want %s", c.says, im.PlanText, c.plan)
		}
	}
}

func TestImportFileRefuses(t *testing.T) {
	for _, c := range []struct{ says, text, err string }{
		{"nothing", " \n", "is empty"},
		{"a manifest indented with tabs", "apiVersion: v1\nkind: Pod\nspec:\n\tcontainers: []\n", "tabs do not indent"},
		{"a manifest without the engine", "apiVersion: v1\nkind: Pod\nspec:\n  containers: [{image: i, command: [sleep]}]\n", "runs no vllm"},
		{"settings of something else", "colour: blue\n", "no setting of vllm"},
		{"two documents of settings", "a: 1\n---\nb: 2\n", "2 documents"},
		{"a script that does not close its quotes", "vllm serve \"m\n-tp 8\n", "mend the shell syntax"},
	} {
		_, err := ImportFile(argv.VLLM, "f", []byte(c.text), nil)
		if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.says, err, c.err)
		}
	}
}

// TestTwoRoles: prefill and decode in one file are two roles, and the file's
// degrees are decode's.
func TestTwoRoles(t *testing.T) {
	im, err := ImportFile(argv.SGLang, "f", []byte("sglang serve --model m --tp 4 --disaggregation-mode prefill\nsglang serve --model m --tp 8 --disaggregation-mode decode\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(im.Roles) != 2 || im.Degrees.TP != 8 || im.Roles[0].Settings.Role != prefill {
		t.Errorf("%d roles, tp %d", len(im.Roles), im.Degrees.TP)
	}
}

// TestLayouts: the two published layouts of DeepSeek-V3 have 32 stages and 61
// layers (Megatron-LM pipeline_parallel_layout.md; Megatron-Bridge recipes).
func TestLayouts(t *testing.T) {
	for _, layout := range []string{"Et*3|(tt|)*29,m|L", "Et|(tt|)*30mL", "Et*2|(tt|)*22t|(tt|)*7mL"} {
		stages, err := LayoutStages(layout)
		if err != nil {
			t.Fatal(err)
		}
		n := map[byte]int{}
		for _, s := range stages {
			for _, c := range s {
				n[c]++
			}
		}
		if len(stages) != 32 || n['t'] != 61 || n['E'] != 1 || n['L'] != 1 || n['m'] != 1 {
			t.Errorf("%s: %d stages, letters %v", layout, len(stages), n)
		}
	}
}

// FuzzFile: any text is read without a panic, and an error is one line.
func FuzzFile(f *testing.F) {
	f.Add(uint8(0), script)
	f.Add(uint8(1), lws)
	f.Add(uint8(2), "tensor_parallel_size: 8\n")
	f.Add(uint8(4), "pretrain_gpt.py --pipeline-model-parallel-layout 'Et*3|(tt|)*29,m|L'")
	f.Add(uint8(0), "vllm serve <(echo hi) \"$(id)\" `id` ~root @(a|b) $'a\\nb' ${A[*]^^} ${A@Q} ${!A} $((1/0))")
	f.Add(uint8(2), "cat > e.yaml <<EOF\na: $B\nEOF\ntrtllm-serve m --config e.yaml")
	f.Add(uint8(0), "A=$A$A; vllm serve ${A//a/$A} -tp {1..9}")
	f.Fuzz(func(t *testing.T, e uint8, text string) {
		_, err := ImportFile(argv.Engines()[int(e)%len(argv.Engines())], "f", []byte(text), nil)
		if err != nil && strings.Contains(strings.TrimSpace(err.Error()), "\n") {
			t.Errorf("error of several lines: %q", err)
		}
	})
}

// TestFilesThatAreNone: what cannot be read is named as what it is.
func TestFilesThatAreNone(t *testing.T) {
	deep := strings.Repeat("[", 12000) + strings.Repeat("]", 12000)
	bomb := "kind: Pod\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ",") + "]\n"
	}
	for _, c := range []struct{ says, text, err string }{
		{"nested without end", `{"kind": "Pod", "spec": ` + deep + "}", "exceeded max depth"},
		{"aliases of aliases", bomb, "excessive aliasing"},
		{"an anchor in itself", "kind: Pod\na: &a\n  b: *a\n", "contains itself"},
		{"tabs", "services:\n\ta: {image: x}\n", "tabs do not indent"},
		{"two configurations", "tensor-parallel-size: 8\n---\ntensor-parallel-size: 4\n", "2 documents"},
		{"nothing", " \n\t", "is empty"},
		{"noise", "\x00\x01\xff\xfe", "mend"},
	} {
		_, err := ImportFile(argv.VLLM, "f", []byte(c.text), nil)
		if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.says, err, c.err)
		}
	}
	if _, err := Config("c", []byte("a: 1\n---\nb: 2\n")); err == nil || !strings.Contains(err.Error(), "2 documents") {
		t.Errorf("a configuration of two documents: %v", err)
	}
}

// TestConfigurationBesideTheCommand: what the same file writes is read with the command
// that names it.
func TestConfigurationBesideTheCommand(t *testing.T) {
	for _, c := range []struct{ says, engine, text, plan string }{
		{"a here-document", argv.TRTLLM, "EXTRA=/tmp/extra.yaml\nDP=true\ncat > $EXTRA <<EOF\nenable_attention_dp: $DP\nEOF\ncat << 'EOF' >> $EXTRA\nmoe_expert_parallel_size: 4\nEOF\nmpirun -n 1 trtllm-serve m --tp_size 4 --extra_llm_api_options $EXTRA\n", "tp=1,pp=1,dp=4,ep=4"},
		{"tee", argv.VLLM, "sudo true\ntee conf.yaml <<EOF\ntensor-parallel-size: 4\nEOF\nvllm serve m --config ./conf.yaml\n", "tp=4,pp=1,dp=1,ep=1"},
		{"a ConfigMap", argv.TRTLLM, "kind: ConfigMap\ndata: {e.yaml: 'enable_attention_dp: true'}\n---\nkind: Pod\nspec:\n  containers: [{image: i, command: [trtllm-serve, m, --tp_size, '4', --config, /etc/x/e.yaml]}]\n", "tp=1,pp=1,dp=4,ep=1"},
	} {
		im, err := ImportFile(c.engine, "f", []byte(c.text), nil)
		if err != nil || im.PlanText != c.plan || len(im.Warnings) > 0 {
			t.Errorf("%s: %+v, want %s: %v", c.says, im, c.plan, err)
		}
	}
	b, err := Build(func() *Request {
		r := ask(t, argv.TRTLLM, Kube, "deepseek-r1", "dp=16,ep=16")
		r.Serve.KV = "fp8"
		return r
	}())
	if err != nil {
		t.Fatal(err)
	}
	if im, err := ImportFile(argv.TRTLLM, "f", []byte(b.Files[0].Content), nil); err != nil || im.Settings.KV != "fp8" {
		t.Errorf("the cache's format of a written manifest: %+v: %v", im, err)
	}
}
