package launch

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// TestWords: texts that no registry, engine or YAML takes are refused where they are asked.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		target Target
		set    func(*Request)
		says   string // "" = taken
	}{
		{Compose, func(r *Request) { r.Image = "${HOME}:y" }, "is no reference"},
		{Kube, func(r *Request) { r.Image = "$(x)" }, "is no reference"},
		{Kube, func(r *Request) { r.Image = "UPPER:Tag:x" }, "is no reference"},
		{Kube, func(r *Request) { r.Image = "vllm/vllm-openai:v0.26.0" }, ""},
		{Kube, func(r *Request) { r.Image = "localhost:5000/a/b:Tag@sha256:" + strings.Repeat("0a", 32) }, ""},
		{Slurm, func(r *Request) { r.Image = "/images/vllm.sqsh" }, ""},
		{Slurm, func(r *Request) { r.Image = "nvcr.io#nvidia/pytorch:25.01-py3" }, ""},
		{Kube, func(r *Request) { r.ModelPath = "/m/\xff" }, "is not UTF-8"},
		{Compose, func(r *Request) { r.Env = []string{"A=\xff"} }, "is not UTF-8"},
		{Ray, func(r *Request) { r.ModelPath = "/m/\xff" }, "is not UTF-8"},
		{Shell, func(r *Request) { r.ModelPath = "/m/\xff" }, ""},
		{Shell, func(r *Request) { r.Serve.Quantization = "a b;c" }, "is no word"},
		{Shell, func(r *Request) { r.Serve.Quantization = "--x" }, "is no word"},
		{Shell, func(r *Request) { r.Serve.Quantization = "compressed-tensors" }, ""},
		{Kube, func(r *Request) { r.RDMA = "nvidia.com/gpu" }, "is the GPU itself"},
		{Kube, func(r *Request) { r.RDMA = "rdma/ib" }, ""},
	} {
		r := ask(t, argv.VLLM, c.target, "deepseek-r1", "tp=8")
		c.set(r)
		if _, err := Build(r); c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s, image %q, path %q: %v, want %q", c.target, r.Image, r.ModelPath, err, c.says)
		}
	}
	for _, set := range []func(*Request){func(r *Request) { r.Train.Script = "-x" }, func(r *Request) { r.Train.Data = "-x" }} {
		r := askTraining(t, argv.MegatronLM, Shell, "llama-3.1-8b", "tp=2,dp=8", 64)
		if set(r); r.check() == nil || !strings.Contains(r.check().Error(), "write ./-x") {
			t.Errorf("script %q, data %q: %v", r.Train.Script, r.Train.Data, r.check())
		}
	}
}

// TestLineBreaksInYAML: no character that some readers take for a line's end stands raw, and
// every text arrives as it was. Without such characters nothing changes.
func TestLineBreaksInYAML(t *testing.T) {
	for _, text := range []string{"a\u0085b", "a\u2028b", "a\u2029", "\ufeffa", "a\nb\u0085 c\n", "plain", "yes", "08", "\u0085yes"} {
		in := map[string]any{"texts": []any{text, "true", "1.0", "null", "a: b"}, "n": json.Number("3"), "on": true, "none": []any{}}
		y, err := yamlText(in)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(y, lineBreaks) {
			t.Errorf("%q stands raw in %q", text, y)
		}
		var out map[string]any
		if err := yaml.Unmarshal([]byte(y), &out); err != nil {
			t.Fatalf("%q: %v", y, err)
		}
		a, _ := json.Marshal(in)
		b, _ := json.Marshal(out)
		if string(a) != string(b) {
			t.Errorf("%s arrives as %s by\n%s", a, b, y)
		}
	}
}

// TestNearestNamesWhatRuns: the header's plan is the plan that the flags run.
func TestNearestNamesWhatRuns(t *testing.T) {
	build := func(engine, model, text string, nearest bool) *Bundle {
		t.Helper()
		r := askTraining(t, engine, Shell, model, text, 64)
		before := *r.Training
		r.Nearest = nearest
		b, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		if r.Training.String() != before.String() {
			t.Errorf("the request became %s", r.Training)
		}
		return b
	}
	near := build(argv.MegatronLM, "llama-3.1-8b", "tp=2,dp=8,pp=2,schedule=zb-v", true)
	plain := build(argv.MegatronLM, "llama-3.1-8b", "tp=2,dp=8,pp=2,schedule=interleaved,vpp=2", false)
	if near.Plan != plain.Plan || near.PlanHash != plain.PlanHash || strings.Contains(near.Files[0].Content, "zb-v") || !strings.Contains(near.Files[0].Content, near.PlanHash) {
		t.Errorf("nearest is %s (%s), asked for itself %s (%s)", near.Plan, near.PlanHash, plain.Plan, plain.PlanHash)
	}
	titan := build(argv.TorchTitan, "llama-3.1-8b", "tp=2,dp=8,zero=1", true)
	if !strings.Contains(titan.Plan, "zero=2") {
		t.Errorf("torchtitan's nearest is called %s", titan.Plan)
	}
}
