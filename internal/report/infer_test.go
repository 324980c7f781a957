package report

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// service is a question about a catalogue model on catalogue clusters.
func service(t *testing.T, name, clusters, fixed string, isl, osl int64, concurrency ...int) *api.InferRequest {
	t.Helper()
	r := &api.InferRequest{ISL: isl, OSL: osl, Concurrency: concurrency}
	var err error
	if r.Model, err = catalog.Model(name); err != nil {
		t.Fatal(err)
	}
	for _, c := range strings.Split(clusters, ",") {
		cluster, err := catalog.Cluster(c)
		if err != nil {
			t.Fatal(err)
		}
		r.Clusters = append(r.Clusters, cluster)
	}
	if r.Plan, err = plan.ParseServing(fixed); err != nil {
		t.Fatal(err)
	}
	return r
}

// with changes a request.
func with(r *api.InferRequest, change func(*api.InferRequest)) *api.InferRequest {
	change(r)
	return r
}

// speculations reads --spec texts.
func speculations(t *testing.T, texts ...string) (list []*infer.Speculation) {
	t.Helper()
	for _, text := range texts {
		s, err := infer.ParseSpeculation(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

func services(t *testing.T) map[string]*api.InferRequest {
	slo := func(r *api.InferRequest) {
		r.SLO = deploy.SLO{TTFT: 2, TPOT: 30e-3}
		for _, c := range r.Clusters {
			c.PricePerGPUHour = 2.5
		}
	}
	return map[string]*api.InferRequest{
		"one GPU":     service(t, "llama-3.1-8b", "h100x1", "", 1024, 128, 1),
		"search":      with(service(t, "deepseek-r1", "h200x16", "", 2048, 1024, 1, 16, 256), slo),
		"named":       service(t, "deepseek-r1", "h200x8", "tp=8", 1024, 1024, 1, 8, 128),
		"speculation": with(service(t, "deepseek-r1", "h200x8", "tp=8", 1024, 1024, 1, 32), func(r *api.InferRequest) { r.Speculation = speculations(t, "none", "mtp:1:0.87") }),
		"clusters":    with(service(t, "llama-3.1-70b", "h200x8,a100-80gbx8,h100x4", "", 1024, 256, 1, 64), slo),
		"latency": with(service(t, "deepseek-r1", "h20x16", "tp=16", 128, 512, 1), func(r *api.InferRequest) {
			r.RTT = []unit.Seconds{0.193e-3, 2.193e-3}
			r.Measured = []infer.Measured{{TPOT: 52.8e-3, RTT: 0.193e-3}}
		}),
		"two roles": service(t, "deepseek-r1", "h800x64", "prefill:tp=1,dp=16,ep=16;decode:tp=1,dp=32,ep=32", 4096, 1024, 64, 512),
		"skewed":    with(service(t, "deepseek-r1", "h800x32", "tp=1,dp=32,ep=32,redundant=32", 1024, 1024, 512), func(r *api.InferRequest) { r.Skew, r.Overlap = 0.657, []bool{false, true} }),
		"too large": service(t, "deepseek-r1", "h100x8", "", 1024, 1024, 1),
		"missed":    with(service(t, "llama-3.1-8b", "h100x1", "", 1024, 128, 1), func(r *api.InferRequest) { r.SLO.TPOT = 1e-6 }),
		"saturated": service(t, "llama-3.1-70b", "h100x4", "tp=4", 8192, 1024, 1024),
		"quantised": with(service(t, "llama-3.1-70b", "h100x2", "tp=2", 1024, 128, 8), func(r *api.InferRequest) {
			r.Weights, r.KV = []unit.Format{unit.FP8, unit.INT4}, []unit.Format{unit.FP8}
		}),
		"windows":       service(t, "gpt-oss-120b", "b200x4", "", 1024, 1024, 64),
		"linear layers": service(t, "qwen3.5-397b-a17b", "h200x8", "", 1024, 1024, 64),
	}
}

// Every page fits its width, every document is valid JSON.
func TestPagesOfServicesFit(t *testing.T) {
	for name, r := range services(t) {
		a, err := api.Infer(context.Background(), r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, width := range []int{100, 120} {
			got := page(t, width, func(p *Page) { Infer(p, a) })
			fits(t, got, width)
			wants(t, got, "Serving "+r.Model.Name, "Verdict", "Memory per GPU")
		}
		if b, err := json.Marshal(NewInferDoc(a)); err != nil || !json.Valid(b) {
			t.Errorf("%s: %v", name, err)
		}
		for i, o := range a.Outcomes {
			if got := len(NewInferDoc(a).Fronts[i]); got != len(o.Front) {
				t.Errorf("%s: variant %d has %d points in the document, %d on its front", name, i, got, len(o.Front))
			}
		}
		r.Measured, r.Overlap = nil, nil // of whole steps, which overlap has none of for single operations
		e, steps, err := api.ExplainInfer(context.Background(), r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fits(t, page(t, 100, func(p *Page) { InferOperations(p, e, steps) }), 100)
		if b, err := json.Marshal(NewServingOperationsDoc(e, steps)); err != nil || !json.Valid(b) {
			t.Errorf("%s: %v", name, err)
		}
		if len(steps) != 2 && a.Best.Best.Fits {
			t.Errorf("%s: %d steps are explained, want prefill and decode", name, len(steps))
		}
	}
}

// pageOf is the page of a named service.
func pageOf(t *testing.T, name string) string {
	t.Helper()
	a, err := api.Infer(context.Background(), services(t)[name])
	if err != nil {
		t.Fatal(err)
	}
	return page(t, 100, func(p *Page) { Infer(p, a) })
}

func TestServicePagesSayWhatMatters(t *testing.T) {
	for name, texts := range map[string][]string{
		"search":      {"the cheapest deployment that meets the objective", "first token within 2.000 s, then at most 30.00 ms per token", "* meets the objective.", "Pareto front", "USD per million output tokens at 2.50 USD per GPU-hour"},
		"named":       {"By requests in flight, as tp=8", "MLA latent replicated under TP8: 8 copies of KV", "What binds each part", "70.27 kB per token in bf16 (35.14 kB in fp8, 26.35 kB in fp6); without the latent 4.997 MB (MHA), 312.3 kB with 8 key heads (GQA)"},
		"speculation": {"no speculation", "mtp:1:0.87", "It gains most at", "1.87 tokens per step"},
		"clusters":    {"The best of each variant", "a100-80gbx8", "h100x4"},
		"latency":     {"16 copies of KV", "each wait taken 1.00 times", "The variants, each with 1 request in flight", "calibrated prediction", "193.0 us round trip"},
		"two roles":   {"real deployments in two roles keep 75 to 100 %", "prefill:tp=1,dp=16,ep=16,workers="},
		"skewed":      {"two-batch overlap", "What each strategy changes"},
		"too large":   {"Verdict: nothing fits", "are missing"},
		"missed":      {"Verdict: nothing meets the objective", "per token instead of 1.000 us"},
		"saturated":   {"requests in flight only wait longer"},
	} {
		wants(t, pageOf(t, name), texts...)
	}
}

func TestOneLayoutHasNoFrontTable(t *testing.T) {
	if got := pageOf(t, "named"); strings.Contains(got, "Pareto front: no deployment") {
		t.Error("the points of one layout are listed twice")
	}
}

func TestHTMLHoldsPictureAndText(t *testing.T) {
	a, err := api.Infer(context.Background(), services(t)["speculation"])
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := InferHTML(&b, "ridgeline infer <x>", a); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{"<svg", "</svg>", "ridgeline infer &lt;x&gt;", "Verdict", "</html>"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(got, "http://") && !strings.Contains(got, "http://www.w3.org") || strings.Contains(got, "<script") {
		t.Error("the page loads something from elsewhere")
	}
}

func TestThinned(t *testing.T) {
	for n := range 40 {
		list := thinned(n, 16)
		if len(list) != min(n, 16) || n > 0 && (list[0] != 0 || list[len(list)-1] != n-1) {
			t.Errorf("%d: %v", n, list)
		}
	}
}
