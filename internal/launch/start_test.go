package launch

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// podsOf are the pod templates of every document of a manifest.
func podsOf(t *testing.T, text string) (pods []map[string]any) {
	t.Helper()
	docs, err := documents("m.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["containers"] != nil {
				pods = append(pods, v)
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	for _, d := range docs {
		walk(d)
	}
	return pods
}

// TestPodsCanStart: probes wait for SGLang's generated token, no service's variables reach
// an engine that reads them as its own settings, and a deployment with GPUs does not need
// as many again for its update.
func TestPodsCanStart(t *testing.T) {
	for _, c := range []struct{ engine, plan string }{
		{argv.SGLang, "tp=8"}, {argv.VLLM, "dp=16,ep=16"}, {argv.TRTLLM, "dp=16,ep=16"}, {argv.VLLM, "prefill:tp=8;decode:tp=8"},
	} {
		r := ask(t, c.engine, Kube, "deepseek-r1", c.plan)
		r.Serve.ISL, r.Serve.OSL = 1024, 128
		r.Tools = Tools{Workers: 2, Probes: 2, Image: "tools", Results: "results", Levels: []int{4}}
		b, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		service := fileOf(t, b, r.Name+".yaml")
		for _, f := range b.Files {
			if !strings.HasSuffix(f.Name, ".yaml") {
				continue
			}
			for _, p := range podsOf(t, f.Content) {
				if p["enableServiceLinks"] != false {
					t.Errorf("%s %s: a pod of %s gets the variables of services", c.engine, c.plan, f.Name)
				}
			}
		}
		if n, probes := strings.Count(service, "timeoutSeconds: 20\n"), strings.Count(service, "Probe:\n"); probes == 0 || n != probes {
			t.Errorf("%s %s: %d of %d probes wait", c.engine, c.plan, n, probes)
		}
		if strings.Contains(service, "kind: Job") {
			t.Errorf("%s %s: load or probes start with the service", c.engine, c.plan)
		}
		if c.plan == "tp=8" && !strings.Contains(service, "type: Recreate") {
			t.Errorf("%s %s: no Recreate", c.engine, c.plan)
		}
		for _, name := range []string{r.Name + "-load.yaml", r.Name + "-probe.yaml"} {
			if readme := fileOf(t, b, "README.md"); !strings.Contains(readme, "kubectl apply --server-side -f "+name) {
				t.Errorf("%s %s: the README does not start %s", c.engine, c.plan, name)
			}
		}
	}
}

// TestRouterScripts: the hosts of TensorRT-LLM's workers come from variables, as those of
// the others do, and a router that is not there is named with its mend.
func TestRouterScripts(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	run := func(engine, then string) (string, error) {
		r := ask(t, engine, Shell, "deepseek-r1", "prefill:dp=8,ep=8,workers=2;decode:dp=8,ep=8")
		b, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		script, _, ok := strings.Cut(fileOf(t, b, r.Name+"-router.sh"), "\nexec ")
		if !ok {
			t.Fatal("the script starts nothing")
		}
		cmd := exec.Command(bash, "-c", script+"\n"+then)
		cmd.Env = []string{"PATH=" + filepath.Dir(bash), "TMPDIR=" + t.TempDir(), "PREFILL_0=a", "PREFILL_1=b", "DECODE_0=c"}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run(argv.TRTLLM, `cat "$ROUTER_CONFIG"`)
	for _, url := range []string{"- a:8000", "- b:8000", "- c:8000"} {
		if err != nil || !strings.Contains(out, url) {
			t.Errorf("TensorRT-LLM's router is configured as %q (%v), want %s", out, err, url)
		}
	}
	if out, err = run(argv.VLLM, "echo started"); err == nil || !strings.Contains(out, "vllm-router is not installed here: python3 -m pip install") {
		t.Errorf("without vllm-router: %q, %v", out, err)
	}
}

// TestWhoServes: the evaluation reaches the service from where it is run.
func TestWhoServes(t *testing.T) {
	for _, c := range []struct {
		engine string
		target Target
		plan   string
		says   string
	}{
		{argv.VLLM, Shell, "tp=8", "http://localhost:8000/v1"},
		{argv.VLLM, Shell, "tp=16", "SERVICE_HOST is node 0."},
		{argv.VLLM, Slurm, "tp=8", "squeue --name=deepseek-r1 "},
		{argv.SGLang, Shell, "prefill:tp=8;decode:tp=8", "the host on which deepseek-r1-router.sh runs"},
		{argv.VLLM, Shell, "tp=8,replicas=2", "Nothing balances between the 2 instances"},
		{argv.VLLM, Kube, "tp=16", "http://localhost:8000/v1"},
		{argv.VLLM, Kube, "tp=8,replicas=2", "reaches one of the 2 pods"},
		{argv.VLLM, Compose, "tp=4,replicas=2", "one of the 2 instances"},
	} {
		b, err := Build(ask(t, c.engine, c.target, "deepseek-r1", c.plan))
		if err != nil {
			t.Fatal(err)
		}
		readme := fileOf(t, b, "README.md")
		if !strings.Contains(readme, c.says) || strings.Contains(readme, "http://SERVICE_HOST") != strings.Contains(readme, "SERVICE_HOST is ") || strings.Contains(readme, "http://SERVICE_HOST") == strings.Contains(readme, "http://localhost") {
			t.Errorf("%s %s %s: want %q in %s", c.engine, c.target, c.plan, c.says, readme)
		}
	}
}

// TestRayOfOneNode: where Ray is started, vLLM runs on it.
func TestRayOfOneNode(t *testing.T) {
	for _, plan := range []string{"tp=8", "tp=4,dp=2", "tp=16"} {
		b, err := Build(ask(t, argv.VLLM, Ray, "deepseek-r1", plan))
		if err != nil {
			t.Fatal(err)
		}
		script := b.Files[0].Content
		if !strings.Contains(script, "--distributed-executor-backend ray") || strings.Contains(script, "LEADER_ADDRESS") != strings.Contains(script, "NODE_RANK") {
			t.Errorf("%s: %s", plan, script)
		}
	}
}

// TestModelsThatAreLoaded: llama.cpp gets a file or a repository that holds some, and
// whoever names no volume is told what that costs.
func TestModelsThatAreLoaded(t *testing.T) {
	for _, c := range []struct{ path, flag, err string }{
		{"/m/x", "--model /m/x ", ""}, {"x.gguf", "--model x.gguf ", ""}, {"ggml-org/Llama-3.1-8B-GGUF:Q4_K_M", "--hf-repo ggml-org/", ""},
		{"meta-llama/Llama-3.1-8B", "", "give --model-path FILE.gguf"},
	} {
		r := ask(t, argv.LlamaCPP, Shell, "llama-3.1-8b", "tp=1")
		r.ModelPath = c.path
		b, err := Build(r)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.path, err, c.err)
			}
			continue
		}
		if err != nil || !strings.Contains(strings.ReplaceAll(b.Files[0].Content, " \\\n ", " "), c.flag) {
			t.Errorf("%s: %v, want %s", c.path, err, c.flag)
		}
	}
	for _, volume := range []string{"", "models"} {
		for _, target := range []Target{Kube, Compose} {
			r := ask(t, argv.VLLM, target, "deepseek-r1", "tp=8")
			r.ModelVolume = volume
			b, err := Build(r)
			if err != nil {
				t.Fatal(err)
			}
			if says := strings.Contains(strings.Join(b.Notes, " "), "download the model again"); says != (volume == "") {
				t.Errorf("%s with volume %q: %q", target, volume, b.Notes)
			}
		}
	}
}

// TestNotesOnce: what both roles have to say is said once, and what differs names its role.
func TestNotesOnce(t *testing.T) {
	for _, engine := range []string{argv.VLLM, argv.SGLang} {
		b, err := Build(ask(t, engine, Slurm, "deepseek-r1", "prefill:dp=16,ep=16;decode:dp=16,ep=16"))
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range b.Notes {
			for _, o := range b.Notes[:i] {
				if n == o {
					t.Errorf("%s says twice: %s", engine, n)
				}
			}
		}
	}
}

// TestUsersEnvironment: the user's value counts, once, and what the files set themselves
// is refused.
func TestUsersEnvironment(t *testing.T) {
	for _, target := range []Target{Shell, Kube, Compose} {
		r := ask(t, argv.VLLM, target, "deepseek-r1", "tp=8")
		r.Env = []string{"HF_TOKEN=mine", "VLLM_ENGINE_READY_TIMEOUT_S=7"}
		b, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		text := b.Files[0].Content
		for name, value := range map[string]string{"HF_TOKEN": "mine", "VLLM_ENGINE_READY_TIMEOUT_S": "7"} {
			if strings.Count(text, name) != 1 || !strings.Contains(text, value) {
				t.Errorf("%s: %s is not %s alone in %s", target, name, value, text)
			}
		}
		for _, c := range []struct {
			env  []string
			says string
		}{{[]string{"NODE_RANK=0"}, "leave it out"}, {[]string{"UID=1"}, "leave it out"}, {[]string{"A=1", "A=2"}, "given twice"}} {
			r.Env = c.env
			if _, err := Build(r); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s %v: %v, want %q", target, c.env, err, c.says)
			}
		}
	}
}
