package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// fileOf is the content of a bundle's file.
func fileOf(t *testing.T, b *Bundle, name string) string {
	t.Helper()
	for _, f := range b.Files {
		if f.Name == name {
			return f.Content
		}
	}
	t.Fatalf("no file %s", name)
	return ""
}

// TestRouterOfVLLM: the project's router stands before both roles on every target and
// reaches each instance; where the engine's image is taken it brings the program.
func TestRouterOfVLLM(t *testing.T) {
	for target, c := range map[Target]struct{ file, prefill, decode string }{
		Shell:   {"deepseek-r1-router.sh", `http://"${PREFILL_1}":8000`, `http://"${DECODE_0}":8000`},
		Slurm:   {"deepseek-r1-router.sbatch", `http://"${PREFILL_1}":8000`, `http://"${DECODE_0}":8000`},
		Kube:    {"deepseek-r1.yaml", "http://deepseek-r1-prefill-1.deepseek-r1-prefill:8000", "http://deepseek-r1-decode-0.deepseek-r1-decode:8000"},
		Ray:     {"deepseek-r1-raycluster.yaml", "http://deepseek-r1-prefill-1-api:8000", "http://deepseek-r1-decode-api:8000"},
		Compose: {"compose.yaml", "http://deepseek-r1-prefill-1:8000", "http://deepseek-r1-decode-0:8000"},
	} {
		r := ask(t, argv.VLLM, target, "deepseek-r1", "prefill:tp=8,workers=2;decode:tp=8")
		r.NodeGPUs = 24
		b, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		text := fileOf(t, b, c.file)
		for _, part := range []string{"vllm-router \\\n", "--vllm-pd-disaggregation", "--prefill " + c.prefill, "--decode " + c.decode} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: the router has no %s", target, part)
			}
		}
		if strings.Count(text, "--prefill http") != 2 || strings.Count(text, "--decode http") != 1 {
			t.Errorf("%s: not each instance once:\n%s", target, text)
		}
		if !strings.Contains(strings.Join(b.Notes, " "), "has no router of its own") {
			t.Errorf("%s does not say whose router it is: %q", target, b.Notes)
		}
	}
	r := ask(t, argv.VLLM, Kube, "deepseek-r1", "prefill:tp=8;decode:tp=8")
	r.RouterImage = "registry.example/router:2"
	b, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	if text := fileOf(t, b, "deepseek-r1.yaml"); strings.Contains(text, "pip install") || strings.Count(text, "image: registry.example/router:2") != 1 {
		t.Error("an image that holds the router is not taken as it is")
	}
}

// TestMPIPods: on Kubernetes the leader waits for every worker by ssh and starts a
// process on every GPU, as bash with stand-ins shows; workers answer ssh.
func TestMPIPods(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	b, err := Build(ask(t, argv.TRTLLM, Kube, "deepseek-r1", "dp=32,ep=32"))
	if err != nil {
		t.Fatal(err)
	}
	var set leaderWorkerSet
	docs := strings.Split(fileOf(t, b, "deepseek-r1.yaml"), "---\n")
	if err := yaml.UnmarshalStrict([]byte(docs[len(docs)-1]), &set); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for name, body := range map[string]string{"ssh": `echo "$@" >>"$LOG"`, "hostname": "echo r1-0", "apt-get": "exit 0", "mpirun": `printf '%s\0' "$@"`} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!"+bash+"\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(bin, "log")
	leader, worker := containerScript(t, &set.Spec.Template.Leader.Spec), containerScript(t, &set.Spec.Template.Worker.Spec)
	c := exec.Command(bash, "-c", leader)
	c.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "LWS_LEADER_ADDRESS=r1-0.r1.serving", "LOG=" + log}
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Split(string(out), "\x00"), " ")
	for _, part := range []string{"-np 32 --host r1-0:8,r1-0-1.r1.serving:8,r1-0-2.r1.serving:8,r1-0-3.r1.serving:8 ",
		" trtllm-llmapi-launch trtllm-serve deepseek-ai/DeepSeek-R1 ", "--tensor_parallel_size 32 ", "--gpus_per_node 8"} {
		if !strings.Contains(words, part) {
			t.Errorf("mpirun gets no %q in %q", part, words)
		}
	}
	if asked, err := os.ReadFile(log); err != nil || strings.Count(string(asked), " true\n") != 3 {
		t.Errorf("the leader asked %q: %v", asked, err)
	}
	for _, s := range []string{leader, worker} {
		if out, err := exec.Command(bash, "-n", "-c", s).CombinedOutput(); err != nil {
			t.Errorf("%s: %s", err, out)
		}
	}
	if !strings.Contains(worker, "exec /usr/sbin/sshd -D") {
		t.Errorf("workers do not answer: %s", worker)
	}
}

// containerScript is what a pod's container gives to bash, as Kubernetes hands it over.
func containerScript(t *testing.T, spec *corev1.PodSpec) string {
	t.Helper()
	c := spec.Containers[0]
	if len(c.Command) != 3 || c.Command[0] != "bash" {
		t.Fatalf("command %q", c.Command)
	}
	return expandKube(c.Command[2], nil)
}

// TestSlurmContainers: a named image is run by Slurm's container plugin, with the
// folders that the command needs; the image's name is one word.
func TestSlurmContainers(t *testing.T) {
	r := ask(t, argv.TRTLLM, Slurm, "deepseek-r1", "tp=8")
	r.Image, r.ModelPath = "nvcr.io#nvidia/x:1;id", "/models/r1"
	b, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	text := fileOf(t, b, "deepseek-r1.sbatch")
	if !strings.Contains(text, "--container-image='nvcr.io#nvidia/x:1;id' \\\n  --container-mounts=\"$CONFIG_DIR:$CONFIG_DIR\",/models:/models bash -c") {
		t.Error(text)
	}
	if strings.Contains(text, "MODEL_CACHE") {
		t.Error("the hub's cache is made and not mounted")
	}
	for path, want := range map[string]string{"/a,b/m": `--container-mounts="$CONFIG_DIR:$CONFIG_DIR" bash`, "/m/a:b": `"$CONFIG_DIR:$CONFIG_DIR",/m:/m bash`,
		"org/m": `"$CONFIG_DIR:$CONFIG_DIR,$MODEL_CACHE:/root/.cache/huggingface" bash`} {
		r.ModelPath = path
		if b, err = Build(r); err != nil || !strings.Contains(fileOf(t, b, "deepseek-r1.sbatch"), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
		if said := strings.Contains(strings.Join(b.Notes, " "), "has a comma or a colon"); said != (path == "/a,b/m") {
			t.Errorf("%s: notes %q", path, b.Notes)
		}
	}
	r.Image = ""
	if b, err = Build(r); err != nil || strings.Contains(fileOf(t, b, "deepseek-r1.sbatch"), "container") {
		t.Errorf("without an image: %v", err)
	}
}

// TestExchangeOfVLLM: over nodes and around two batches tokens go by DeepEP, in the mode
// of the role.
func TestExchangeOfVLLM(t *testing.T) {
	for _, c := range []struct {
		text, says string
		overlap    bool
		n          int
	}{
		{"dp=8,ep=8", "all2all", false, 0}, {"tp=16", "all2all", false, 0}, {"tp=8,ep=8", "all2all", false, 0},
		{"dp=16,ep=16", "--all2all-backend deepep_low_latency", false, 2}, // leader and follower
		{"dp=8,ep=8", "--all2all-backend deepep_low_latency", true, 1},
		{"prefill:dp=16,ep=16;decode:tp=8", "--all2all-backend deepep_high_throughput", false, 2},
	} {
		r := ask(t, argv.VLLM, Shell, "deepseek-r1", c.text)
		r.Serve.TwoBatch = c.overlap
		b, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.Files[0].Content, c.says); n != c.n {
			t.Errorf("%s: %d times %s, want %d", c.text, n, c.says, c.n)
		}
	}
}

// TestPrecisionReadsBack: each policy's flags mean that policy, and two policies have
// two hashes.
func TestPrecisionReadsBack(t *testing.T) {
	hashes := map[string]string{}
	for _, name := range plan.PrecisionNames() {
		r := askTraining(t, argv.MegatronLM, Shell, "deepseek-v3", "pp=16,dp=128,ep=64,zero=1", 16384)
		r.Training.Precision = plan.Precisions[name]
		b, err := Build(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		im, err := ImportFile(argv.MegatronLM, "f", []byte(b.Files[0].Content), nil)
		if err != nil || im.Batch.Precision != name {
			t.Errorf("%s reads back as %q: %v", name, im.Batch.Precision, err)
		}
		if other := hashes[b.PlanHash]; other != "" {
			t.Errorf("%s and %s have one hash", name, other)
		}
		hashes[b.PlanHash] = name
	}
}

// TestMegatronStarts: what Megatron-LM's own checks demand beside the degrees.
func TestMegatronStarts(t *testing.T) {
	for _, c := range []struct {
		engine, model, text string
		has, lacks          []string
		nearest             bool
	}{
		{argv.MegatronLM, "llama-3.1-405b", "tp=8,pp=7,dp=8,zero=1,sp=1", []string{"CUDA_DEVICE_MAX_CONNECTIONS=1\n", "--lr "}, nil, false},
		{argv.MegatronLM, "llama-3.1-8b", "dp=16,zero=3", []string{"--use-megatron-fsdp", "--ckpt-format fsdp_dtensor", "--no-gradient-accumulation-fusion"}, []string{"MAX_CONNECTIONS"}, false},
		{argv.MegatronLM, "deepseek-v3", "pp=16,dp=128,ep=64,zero=1,schedule=dualpipe", []string{"CUDA_DEVICE_MAX_CONNECTIONS=32\n", "--moe-router-dtype fp32"}, nil, true},
		{argv.TorchTitan, "llama-3.1-405b", "tp=8,pp=6,dp=8,zero=3,sp=1", nil, []string{"MAX_CONNECTIONS"}, false},
	} {
		r := askTraining(t, c.engine, Shell, c.model, c.text, 16384)
		r.Nearest = c.nearest
		b, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range c.has {
			if !strings.Contains(b.Files[0].Content, part) {
				t.Errorf("%s %s has no %s", c.engine, c.text, part)
			}
		}
		for _, part := range c.lacks {
			if strings.Contains(b.Files[0].Content, part) {
				t.Errorf("%s %s has %s", c.engine, c.text, part)
			}
		}
	}
}

// TestStatesOfPrecision: settings of a policy become the optimizer's formats, and a
// format that Megatron-LM lacks is said.
func TestStatesOfPrecision(t *testing.T) {
	for _, c := range []struct{ precision, zero, says, err string }{
		{"bf16,moment=bf16", "1", "--use-precision-aware-optimizer \\\n  --exp-avg-dtype bf16 \\\n  --exp-avg-sq-dtype bf16", ""},
		{"fp8,moment=fp32", "1", "--fp8-recipe blockwise", ""},
		{"bf16,gradients=bf16", "1", "--main-grads-dtype bf16", ""},
		{"bf16,master=bf16", "1", "", "no master weights in bf16"},
		{"bf16,moment=bf16", "0", "", "use zero=1"},
	} {
		r := askTraining(t, argv.MegatronLM, Shell, "llama-3.1-8b", "dp=16,zero="+c.zero, 64)
		var err error
		if r.Training.Precision, err = plan.ParsePrecision(c.precision); err != nil {
			t.Fatal(err)
		}
		b, err := Build(r)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.precision, err, c.err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.precision, err)
		case !strings.Contains(b.Files[0].Content, c.says):
			t.Errorf("%s has no %s:\n%s", c.precision, c.says, b.Files[0].Content)
		}
	}
}

// TestDeploymentOfFile: replicas of a manifest are the deployment's, of one role or two.
func TestDeploymentOfFile(t *testing.T) {
	for _, c := range []struct{ engine, text, says string }{
		{argv.VLLM, "tp=8,replicas=3", "tp=8,pp=1,dp=1,ep=1,replicas=3"},
		{argv.TRTLLM, "dp=16,ep=16,replicas=2", "tp=1,pp=1,dp=16,ep=16,replicas=2"},
		{argv.SGLang, "prefill:dp=8,ep=8,workers=2;decode:dp=16,ep=16", "prefill:tp=1,pp=1,dp=8,ep=8,workers=2;decode:tp=1,pp=1,dp=16,ep=16,workers=1"},
		{argv.VLLM, "prefill:tp=8;decode:dp=16,ep=16,workers=4", "prefill:tp=8,pp=1,dp=1,ep=1,workers=1;decode:tp=1,pp=1,dp=16,ep=16,workers=4"},
	} {
		b, err := Build(ask(t, c.engine, Kube, "deepseek-r1", c.text))
		if err != nil {
			t.Fatal(err)
		}
		im, err := ImportFile(c.engine, "f", []byte(b.Files[0].Content), nil)
		if err != nil || im.Deployment != c.says {
			t.Errorf("%s %s is deployed as %q: %v", c.engine, c.text, im.Deployment, err)
		}
		if _, err := plan.ParseServing(c.says); err != nil {
			t.Error(err)
		}
	}
}

// TestDenseLayersOfSGLang: under attention DP they are whole where ranks would get parts
// of FP8 blocks: 18,432 columns are 4.5 blocks for each of 32 ranks and 9 for each of 16.
func TestDenseLayersOfSGLang(t *testing.T) {
	for text, whole := range map[string]bool{"dp=32,ep=32": true, "dp=16,ep=16": false, "tp=16": false} {
		b, err := Build(ask(t, argv.SGLang, Shell, "deepseek-r1", text))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.Files[0].Content, "--moe-dense-tp-size 1"); got != whole {
			t.Errorf("%s: dense layers whole %v, want %v", text, got, whole)
		}
	}
}

// TestModelReachesItsContainer: by the hub with a token, from a volume that holds it, or
// from the machine's own folder.
func TestModelReachesItsContainer(t *testing.T) {
	for _, c := range []struct {
		target            Target
		path, volume      string
		has, note, refuse string
	}{
		{Kube, "deepseek-ai/DeepSeek-R1", "", "name: hf-token\n", "secret hf-token", ""},
		{Kube, "deepseek-ai/DeepSeek-R1", "models", "name: HF_HOME\n          value: /models", "secret hf-token", ""},
		{Kube, "/models/r1", "models", "mountPath: /models\n", "", ""},
		{Kube, "/data/r1", "models", "", "", "not in the volume models"},
		{Kube, "/models/../data/r1", "models", "", "", "not in the volume models"},
		{Kube, "/data/r1", "", "", "the image must hold", ""},
		{Compose, "deepseek-ai/DeepSeek-R1", "", "HF_TOKEN: ${HF_TOKEN:-}", "", ""},
		{Compose, "/data/r$1", "", "- /data:/data:ro\n", "", ""},
		{Compose, "/da$ta/r1", "", "- /da$$ta:/da$$ta:ro\n", "", ""},
		{Compose, "/r1", "", "- /r1:/r1:ro\n", "", ""},
		{Compose, "/da:ta/r1", "", "", "has a colon", ""},
		{Compose, "/models/r1", "models", "- models:/models\n", "", ""},
	} {
		r := ask(t, argv.SGLang, c.target, "deepseek-r1", "tp=8")
		r.ModelPath, r.ModelVolume = c.path, c.volume
		b, err := Build(r)
		switch {
		case c.refuse != "":
			if err == nil || !strings.Contains(err.Error(), c.refuse) {
				t.Errorf("%s from %q for %s: %v", c.path, c.volume, c.target, err)
			}
			continue
		case err != nil:
			t.Errorf("%s from %q for %s: %v", c.path, c.volume, c.target, err)
			continue
		}
		if !strings.Contains(b.Files[0].Content, c.has) || !strings.Contains(strings.Join(b.Notes, "\n"), c.note) {
			t.Errorf("%s from %q for %s has no %q or no note %q:\n%s", c.path, c.volume, c.target, c.has, c.note, b.Notes)
		}
	}
}

// TestForeignNames: names of objects that somebody else made may be as long as
// Kubernetes lets them be.
func TestForeignNames(t *testing.T) {
	r := ask(t, argv.VLLM, Kube, "deepseek-r1", "tp=8")
	r.Namespace, r.ModelVolume = strings.Repeat("n", 63), "3models."+strings.Repeat("v", 60)+"."+strings.Repeat("w", 60)
	if _, err := Build(r); err != nil {
		t.Error(err)
	}
}

// TestDispatchOfSGLang: a rank's share of the requests, with their drafts, fits DeepEP's
// buffers.
func TestDispatchOfSGLang(t *testing.T) {
	for _, c := range []struct {
		text           string
		requests       int64
		drafts, tokens int
	}{{"dp=8,ep=8", 1024, 0, 0}, {"dp=8,ep=8", 1024, 1, 256}, {"dp=8,ep=8", 2049, 0, 257}, {"tp=8", 4096, 0, 0}} {
		r := ask(t, argv.SGLang, Shell, "deepseek-r1", c.text)
		r.Serve.MaxSequences, r.Serve.Drafts = c.requests, c.drafts
		b, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		says := strings.Contains(b.Files[0].Content, fmt.Sprintf("export SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK=%d\n", c.tokens))
		if any := strings.Contains(b.Files[0].Content, "DISPATCH"); says != (c.tokens > 0) || any != says {
			t.Errorf("%s of %d requests: %v, want %d tokens", c.text, c.requests, says, c.tokens)
		}
	}
}
