package launch

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// imageFor is an image where the target runs one.
func imageFor(target Target) string {
	if target == Shell {
		return ""
	}
	return "registry.example/image:1"
}

// ask makes a request as the command line would.
func ask(t testing.TB, engine string, target Target, model, text string) *Request {
	t.Helper()
	m, err := catalog.Model(model)
	if err != nil {
		t.Fatal(err)
	}
	r := &Request{Engine: engine, Target: target, Model: m, ModelPath: m.HFID, NodeGPUs: 8, Name: Label(m.Name), Image: imageFor(target)}
	p, err := plan.ParseServing(text)
	if err != nil {
		t.Fatal(err)
	}
	if engine == argv.LlamaCPP {
		r.ModelPath = "/models/m.gguf"
	}
	if r.Split = p.Disaggregated(); r.Split == nil {
		r.Serving = &p.Whole.Serving
	}
	return r
}

func askTraining(t testing.TB, engine string, target Target, model, text string, batch int) *Request {
	t.Helper()
	m, err := catalog.Model(model)
	if err != nil {
		t.Fatal(err)
	}
	f, err := plan.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p := f.Plan
	for _, n := range []*int{&p.TP, &p.PP, &p.CP, &p.DP, &p.VPP, &p.EP, &p.ETP, &p.MicroBatch} {
		*n = max(*n, 1)
	}
	p.Overlap = plan.Overlap{TP: true, DP: true, PP: true}
	return &Request{Engine: engine, Target: target, Model: m, ModelPath: m.HFID, NodeGPUs: 8, Name: Label(m.Name), Image: imageFor(target),
		Training: &p, Train: TrainOptions{GlobalBatch: batch, Seq: 4096}}
}

// TestImportUndoesBuild: the files of a plan, imported, say the plan.
func TestImportUndoesBuild(t *testing.T) {
	for _, c := range []struct{ engine, text, plan string }{
		{argv.VLLM, "tp=8", "tp=8,pp=1,dp=1,ep=1"},
		{argv.VLLM, "tp=8,pp=2", "tp=8,pp=2,dp=1,ep=1"},
		{argv.VLLM, "dp=16,ep=16,redundant=16", "tp=1,pp=1,dp=16,ep=16,redundant=16"},
		{argv.VLLM, "tp=4,dp=4,ep=16", "tp=4,pp=1,dp=4,ep=16"},
		{argv.SGLang, "tp=16", "tp=16,pp=1,dp=1,ep=1"},
		{argv.SGLang, "dp=8,ep=8", "tp=1,pp=1,dp=8,ep=8"},
		{argv.SGLang, "tp=2,dp=8,ep=16,redundant=16", "tp=2,pp=1,dp=8,ep=16,redundant=16"},
		{argv.SGLang, "tp=8,ep=8,pp=2", "tp=8,pp=2,dp=1,ep=8"},
		{argv.TRTLLM, "dp=8,ep=8", "tp=1,pp=1,dp=8,ep=8"},
		{argv.TRTLLM, "tp=8,ep=2", "tp=8,pp=1,dp=1,ep=2"},
		{argv.TRTLLM, "dp=16,ep=16", "tp=1,pp=1,dp=16,ep=16"},
		{argv.TRTLLM, "tp=8,pp=2", "tp=8,pp=2,dp=1,ep=1"},
		{argv.LlamaCPP, "pp=8", "tp=1,pp=8,dp=1,ep=1"},
		{argv.LlamaCPP, "tp=8", "tp=8,pp=1,dp=1,ep=1"},
	} {
		for _, target := range []Target{Shell, Slurm, Kube, Compose} {
			r := ask(t, c.engine, target, "deepseek-r1", c.text)
			if target == Compose && r.Serving.GPUs() > 8 {
				continue
			}
			b, err := Build(r)
			if err != nil {
				t.Errorf("%s %s for %s: %v", c.engine, c.text, target, err)
				continue
			}
			im, err := ImportFile(c.engine, b.Files[0].Name, []byte(b.Files[0].Content), nil)
			if err != nil {
				t.Errorf("%s %s for %s: %v\n%s", c.engine, c.text, target, err, b.Files[0].Content)
				continue
			}
			if im.PlanText != c.plan || len(im.UnknownFlags)+len(im.DeprecatedFlags)+len(im.IllegalValues) > 0 {
				t.Errorf("%s %s for %s says %s, want %s (%v %v)", c.engine, c.text, target, im.PlanText, c.plan, im.UnknownFlags, im.IllegalValues)
			}
			if im.Model != r.ModelPath || b.GPUs != r.Serving.GPUs() {
				t.Errorf("%s %s for %s: model %q, %d GPUs", c.engine, c.text, target, im.Model, b.GPUs)
			}
		}
	}
}

// TestImportUndoesEveryLayout: whatever layout an engine takes reads back as itself;
// what it does not take is an error of one line.
func TestImportUndoesEveryLayout(t *testing.T) {
	powers := []int{1, 2, 4, 8, 16}
	for _, engine := range []string{argv.VLLM, argv.SGLang, argv.TRTLLM, argv.LlamaCPP} {
		taken := 0
		for _, tp := range powers {
			for _, pp := range powers[:3] {
				for _, dp := range powers {
					for _, ep := range powers {
						text := fmt.Sprintf("tp=%d,pp=%d,dp=%d,ep=%d", tp, pp, dp, ep)
						b, err := Build(ask(t, engine, Shell, "deepseek-r1", text))
						if err != nil {
							if strings.Contains(err.Error(), "\n") {
								t.Errorf("%s %s: %v", engine, text, err)
							}
							continue
						}
						taken++
						main := b.Files[0]
						for _, f := range b.Files {
							if f.Name == "deepseek-r1.sh" {
								main = f
							}
						}
						im, err := ImportFile(engine, main.Name, []byte(main.Content), nil)
						if err != nil || im.PlanText != text {
							t.Errorf("%s %s reads back as %+v: %v", engine, text, im, err)
						}
					}
				}
			}
		}
		if taken < 5 {
			t.Errorf("%s takes %d layouts", engine, taken)
		}
		t.Logf("%s takes %d layouts", engine, taken)
	}
}

// TestRolesReadBack: both roles of a deployment, told apart, with decode's degrees
// as those of the file.
func TestRolesReadBack(t *testing.T) {
	for _, engine := range []string{argv.VLLM, argv.SGLang} {
		b, err := Build(ask(t, engine, Kube, "deepseek-r1", "prefill:tp=8,workers=2;decode:dp=16,ep=16"))
		if err != nil {
			t.Fatal(err)
		}
		im, err := ImportFile(engine, "f", []byte(b.Files[0].Content), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(im.Roles) != 2 || im.PlanText != "tp=1,pp=1,dp=16,ep=16" || im.Settings.Role != decode {
			t.Errorf("%s: %d roles, %s of %q", engine, len(im.Roles), im.PlanText, im.Settings.Role)
		}
		if b.GPUs != 32 {
			t.Errorf("%s: %d GPUs", engine, b.GPUs)
		}
	}
}

// TestImportUndoesTraining: the same for training plans.
func TestImportUndoesTraining(t *testing.T) {
	for _, c := range []struct{ engine, model, text, plan string }{
		{argv.MegatronLM, "deepseek-v3", "pp=16,dp=128,ep=64,zero=1,recompute=selective", "tp=1,pp=16,vpp=1,dp=128,cp=1,ep=64,etp=1,zero=1,schedule=1f1b,mbs=1,recompute=norm+act+mla-up"},
		{argv.MegatronLM, "deepseek-v3", "tp=2,pp=8,vpp=4,dp=64,ep=64,zero=1,schedule=interleaved,sp=1", "tp=2,pp=8,vpp=4,dp=64,cp=1,ep=64,etp=1,zero=1,schedule=interleaved,mbs=1,recompute=none,sp=1"},
		{argv.MegatronLM, "llama-3.1-405b", "tp=8,pp=7,cp=2,dp=8,zero=1,sp=1,recompute=full", "tp=8,pp=7,vpp=1,dp=8,cp=2,ep=1,zero=1,schedule=1f1b,mbs=1,recompute=full,sp=1"},
		{argv.MegatronLM, "llama-3.1-8b", "dp=16,zero=3", "tp=1,pp=1,vpp=1,dp=16,cp=1,ep=1,zero=3,schedule=1f1b,mbs=1,recompute=none"},
		{argv.MegatronBridge, "deepseek-v3", "tp=2,pp=8,vpp=4,dp=64,ep=64,zero=1,schedule=interleaved,sp=1", "tp=2,pp=8,vpp=4,dp=64,cp=1,ep=64,etp=1,zero=1,schedule=interleaved,mbs=1,recompute=none,sp=1"},
		{argv.TorchTitan, "llama-3.1-405b", "tp=8,pp=6,dp=8,zero=3,sp=1", "tp=8,pp=6,dp=8,cp=1,ep=1,zero=3,schedule=1f1b,mbs=1"},
		{argv.TorchTitan, "llama-3.1-8b", "dp=64,zero=3,shard=8", "tp=1,pp=1,dp=64,cp=1,ep=1,zero=3,shard=8,mbs=1"},
	} {
		for _, target := range []Target{Shell, Slurm, Kube} {
			b, err := Build(askTraining(t, c.engine, target, c.model, c.text, 16384))
			if err != nil {
				t.Errorf("%s %s for %s: %v", c.engine, c.text, target, err)
				continue
			}
			im, err := ImportFile(c.engine, "f", []byte(b.Files[0].Content), nil)
			if err != nil {
				t.Errorf("%s %s for %s: %v", c.engine, c.text, target, err)
				continue
			}
			if im.PlanText != c.plan {
				t.Errorf("%s %s for %s says\n%s, want\n%s", c.engine, c.text, target, im.PlanText, c.plan)
			}
		}
	}
}

// TestLayoutOf61 : DeepSeek-V3 on 16 stages needs a layout of 61 layers, one
// embedding and one head.
func TestLayoutOf61(t *testing.T) {
	for _, text := range []string{"pp=16,dp=128,ep=64,zero=1", "pp=16,vpp=2,dp=128,ep=64,zero=1,schedule=interleaved", "pp=8,dp=256,ep=64,zero=1"} {
		r := askTraining(t, argv.MegatronLM, Shell, "deepseek-v3", text, 16384)
		r.Train.MTP = 1
		b, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		im, err := ImportFile(argv.MegatronLM, "f", []byte(b.Files[0].Content), nil)
		if err != nil {
			t.Fatal(err)
		}
		stages, err := LayoutStages(im.Degrees.Layout)
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for _, s := range stages {
			all += string(s)
		}
		if len(stages) != r.Training.PP*r.Training.VPP || strings.Count(all, "t") != 61 || all[0] != 'E' || !strings.HasSuffix(all, "mL") {
			t.Errorf("%s: layout %s has %d stages and %d layers", text, im.Degrees.Layout, len(stages), strings.Count(all, "t"))
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		says, engine string
		target       Target
		text, err    string
		change       func(*Request)
	}{
		{"experts on a part of vLLM's ranks", argv.VLLM, Shell, "tp=8,ep=4", "use ep=8 or ep=1", nil},
		{"attention DP beside TP in TensorRT-LLM", argv.TRTLLM, Shell, "tp=4,dp=2", "use tp=1,dp=8 or tp=8,dp=1", nil},
		{"data parallelism in llama.cpp", argv.LlamaCPP, Shell, "dp=2", "use replicas=2", nil},
		{"roles in llama.cpp", argv.LlamaCPP, Shell, "prefill:tp=8;decode:tp=8", "llamacpp has no disaggregated", nil},
		{"parts of FP8 blocks in experts", argv.VLLM, Shell, "tp=32", "blocks of 128", nil},
		{"parts of FP8 blocks in a dense layer", argv.SGLang, Shell, "tp=32,ep=32", "a dense layer", nil},
		{"MPI on one machine", argv.TRTLLM, Compose, "tp=16", "compose runs one machine", nil},
		{"a router's image without roles", argv.VLLM, Kube, "tp=8", "--router-image", func(r *Request) { r.RouterImage = "i" }},
		{"overlap without experts apart in vLLM", argv.VLLM, Shell, "dp=8", "overlaps two batches only", func(r *Request) { r.Serve.TwoBatch = true }},
		{"two nodes on one machine", argv.VLLM, Compose, "tp=16", "compose runs one machine", nil},
		{"SGLang on Ray", argv.SGLang, Ray, "tp=8", "does not run on Ray", nil},
		{"GPUs that do not fill nodes", argv.VLLM, Shell, "tp=4,pp=3", "do not fill nodes of 8", nil},
		{"a plan that the model refuses", argv.VLLM, Shell, "tp=3", "does not divide the 128 attention heads", nil},
		{"a version without a list", argv.VLLM, Shell, "tp=8", "nearest is v0.26.0", func(r *Request) { r.Version = "0.9" }},
		{"a KV format that the engine lacks", argv.LlamaCPP, Shell, "tp=8", "nearest is int8", func(r *Request) { r.Serve.KV = "fp8" }},
		{"a name that Kubernetes refuses", argv.VLLM, Kube, "tp=8", "such as a-b-c", func(r *Request) { r.Name = "A_b C" }},
		{"a namespace that is none", argv.VLLM, Kube, "tp=8", "no name of Kubernetes", func(r *Request) { r.Namespace = "a.b" }},
		{"a volume that is none", argv.VLLM, Kube, "tp=8", "no name of Kubernetes", func(r *Request) { r.ModelVolume = "a..b" }},
		{"a volume of results that is none", argv.VLLM, Kube, "tp=8", "no name of Kubernetes", func(r *Request) { r.Tools.Results = "-a" }},
		{"a tool's image that is none", argv.VLLM, Kube, "tp=8", "write REPOSITORY:TAG", func(r *Request) { r.Tools.Image = "a b" }},
		{"an environment that is none", argv.VLLM, Kube, "tp=8", "write NAME=VALUE", func(r *Request) { r.Env = []string{"1=2"} }},
		{"a name that is too long", argv.VLLM, Kube, "tp=8", "DNS label", func(r *Request) { r.Name = strings.Repeat("a", 64) }},
		{"load workers that cannot share a level", argv.VLLM, Slurm, "tp=8", "use multiples of 4", func(r *Request) {
			r.Serve.ISL, r.Serve.OSL, r.Tools = 8, 8, Tools{Workers: 4, Levels: []int{4, 6}}
		}},
		{"load workers without a scheduler", argv.VLLM, Shell, "tp=8", "use --target k8s or slurm", func(r *Request) { r.Tools.Workers = 4 }},
		{"probes without a volume", argv.VLLM, Kube, "tp=8", "give --results-volume", func(r *Request) { r.Tools = Tools{Probes: 2, Image: "i"} }},
		{"load workers without their image", argv.VLLM, Kube, "tp=8", "give --tool-image", func(r *Request) { r.Tools.Workers = 4 }},
		{"an image with a blank", argv.VLLM, Kube, "tp=8", "write REPOSITORY:TAG", func(r *Request) { r.Image = "a b" }},
		{"a resource that is none", argv.VLLM, Kube, "tp=8", "such as rdma/ib", func(r *Request) { r.RDMA = "ib" }},
		{"a model path that reads as a flag", argv.VLLM, Shell, "tp=8", "./--headless", func(r *Request) { r.ModelPath = "--headless" }},
		{"a model path with NUL", argv.VLLM, Shell, "tp=8", "cannot be an argument", func(r *Request) { r.ModelPath = "a\x00b" }},
		{"a batch that the drafts overflow", argv.TRTLLM, Shell, "tp=8", "raise --batch-tokens to 512", func(r *Request) { r.Serve.MaxSequences, r.Serve.Drafts, r.Serve.BatchTokens = 128, 3, 256 }},
		{"a wide KV format that the engine lacks", argv.TRTLLM, Shell, "tp=8", "nearest is bf16", func(r *Request) { r.Serve.KV = "fp16" }},
		{"a KV format that is none", argv.VLLM, Shell, "tp=8", "use one of bf16, fp16, fp8, nvfp4", func(r *Request) { r.Serve.KV = "fp3" }},
		{"a stream interval of llama.cpp", argv.LlamaCPP, Shell, "tp=8", "--nearest writes that", func(r *Request) { r.Serve.StreamInterval = 5 }},
		{"a quantisation that the list lacks", argv.SGLang, Shell, "tp=8", "takes one of", func(r *Request) { r.Serve.Quantization = "imaginary" }},
		{"serving with a training engine", argv.MegatronLM, Shell, "tp=8", "does not serve", nil},
		{"overlap without an exchange", argv.SGLang, Shell, "tp=8", "overlaps two batches only", func(r *Request) { r.Serve.TwoBatch = true }},
		{"an unknown target", argv.VLLM, "nomad", "tp=8", "use shell", nil},
	} {
		r := ask(t, c.engine, c.target, "deepseek-r1", c.text)
		if c.change != nil {
			c.change(r)
		}
		_, err := Build(r)
		if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.says, err, c.err)
		}
	}
}

// TestProbesOfGPUs: nodes with GPUs are probed with them, and the README says how
// their records become a machine file.
func TestProbesOfGPUs(t *testing.T) {
	for target, gpus := range map[Target]string{Kube: "nvidia.com/gpu: \"8\"", Slurm: "--gpus-per-node=8"} {
		r := ask(t, argv.VLLM, target, "deepseek-r1", "tp=8")
		r.Tools, r.Machine = Tools{Probes: 2}, "h200 x8.yaml"
		if target == Kube {
			r.Tools.Image, r.Tools.Results = "i", "results"
		}
		b, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]bool{}
		for _, f := range b.Files {
			said["job"] = said["job"] || strings.Contains(f.Content, "ridgeline probe gpu --out") && strings.Contains(f.Content, gpus)
			said["calibrate"] = said["calibrate"] || strings.Contains(f.Content, "-probe-*.json --cluster 'h200 x8.yaml' --out "+r.Name+".yaml")
		}
		if !said["job"] || !said["calibrate"] {
			t.Errorf("%s: %v", target, said)
		}
	}
}

// TestLacks: a schedule that the engine has not is an error with the nearest, and
// written as that only where it was asked for.
func TestLacks(t *testing.T) {
	r := askTraining(t, argv.MegatronLM, Shell, "deepseek-v3", "pp=16,dp=128,ep=64,zero=1,schedule=dualpipe", 16384)
	if _, err := Build(r); err == nil || !strings.Contains(err.Error(), "interleaved 1F1B") {
		t.Errorf("dualpipe: %v", err)
	}
	r.Nearest = true
	b, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Warnings) != 1 || !strings.Contains(b.Files[0].Content, "--overlap-moe-expert-parallel-comm") {
		t.Errorf("warnings %q", b.Warnings)
	}
	r.Train.GlobalBatch = 15360
	if _, err := Build(r); err == nil || !strings.Contains(err.Error(), "--global-batch 16384") {
		t.Errorf("120 micro-batches on 16 stages: %v", err)
	}
	r = askTraining(t, argv.TorchTitan, Shell, "deepseek-v3", "pp=8,dp=32,ep=32,zero=3,schedule=dualpipe-v", 2048)
	if b, err := Build(r); err != nil || !strings.Contains(b.Files[0].Content, "DualPipeV") {
		t.Errorf("torchtitan has dualpipe-v: %v", err)
	}
}

// TestEnvironmentIsListed: variables that are set for an engine are the engine's
// (vllm/envs.py).
func TestEnvironmentIsListed(t *testing.T) {
	b, err := os.ReadFile("../../../shared/launch/flags/env.json")
	if err != nil {
		t.Skipf("the public lists are not here: %v", err)
	}
	for _, name := range []string{"VLLM_NIXL_SIDE_CHANNEL_HOST", "VLLM_NIXL_SIDE_CHANNEL_PORT", "VLLM_ENGINE_READY_TIMEOUT_S", "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK", "LWS_LEADER_ADDRESS", "LWS_WORKER_INDEX", lwsIndexLabel, lwsNameLabel} {
		if !strings.Contains(string(b), "\""+name+"\"") {
			t.Errorf("%s is not listed", name)
		}
	}
}

// TestBuildIsDeterministic: the same request gives the same bytes, another one
// another hash.
func TestBuildIsDeterministic(t *testing.T) {
	build := func(text string) *Bundle {
		b, err := Build(ask(t, argv.SGLang, Kube, "deepseek-r1", text))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	one := build("prefill:dp=8,ep=8,workers=2;decode:dp=16,ep=16")
	if d := cmp.Diff(one, build("prefill:dp=8,ep=8,workers=2;decode:dp=16,ep=16")); d != "" {
		t.Error(d)
	}
	if other := build("prefill:dp=8,ep=8,workers=3;decode:dp=16,ep=16"); other.PlanHash == one.PlanHash {
		t.Error("two plans have one hash")
	}
	for _, f := range one.Files {
		for _, part := range []string{"v0.5.18", one.PlanHash, "71de97b264b0"} {
			if !strings.Contains(f.Content, part) {
				t.Errorf("%s does not state %s", f.Name, part)
			}
		}
	}
}

// TestLabel: any text becomes a name that Kubernetes takes.
func TestLabel(t *testing.T) {
	for _, c := range [][2]string{{"deepseek-v3.2", "deepseek-v3-2"}, {"Qwen/Qwen3", "qwen-qwen3"}, {"4b", "m-4b"}, {"", "m"}, {strings.Repeat("a.", 40), strings.Trim(strings.Repeat("a-", 20), "-")}} {
		if got := Label(c[0]); got != c[1] || checkName("name", got) != nil {
			t.Errorf("%q becomes %q, want %q", c[0], got, c[1])
		}
	}
}
