package api

import (
	"context"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/launch"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func launchOf(t *testing.T, engine, model, cluster string) *LaunchRequest {
	t.Helper()
	m, err := catalog.Model(model)
	if err != nil {
		t.Fatal(err)
	}
	r := &LaunchRequest{Request: launch.Request{Engine: engine, Target: launch.Shell, Model: m, ModelPath: m.HFID, NodeGPUs: 8, Name: launch.Label(m.Name)}}
	if cluster != "" {
		if r.Cluster, err = catalog.Cluster(cluster); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// TestLaunchCompletesTrainingPlans: dp is what the cluster leaves, and the rest as
// the help says.
func TestLaunchCompletesTrainingPlans(t *testing.T) {
	for _, c := range []struct{ text, cluster, plan, err string }{
		{"pp=16,ep=64", "h800x2048", "pp=16,dp=128,ep=64,zero=1,schedule=1f1b,mbs=1,recompute=none", ""},
		{"pp=16,vpp=2,ep=64,zero=0", "h800x2048", "pp=16,vpp=2,dp=128,ep=64,zero=0,schedule=interleaved,mbs=1,recompute=none", ""},
		{"pp=16,dp=128,ep=64", "", "pp=16,dp=128,ep=64,zero=1,schedule=1f1b,mbs=1,recompute=none", ""},
		{"pp=16,ep=64", "", "", "give dp=N or --cluster"},
		{"pp=12,ep=64", "h800x2048", "", "does not divide the 2048 GPUs"},
	} {
		r := launchOf(t, "megatron-lm", "deepseek-v3", c.cluster)
		r.Train = launch.TrainOptions{GlobalBatch: 16384, Seq: 4096}
		var err error
		if r.Fixed, err = plan.Parse(c.text); err != nil {
			t.Fatal(err)
		}
		a, err := Launch(context.Background(), r)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s on %q: %v, want %q", c.text, c.cluster, err, c.err)
			}
		case err != nil:
			t.Errorf("%s on %q: %v", c.text, c.cluster, err)
		case a.Plan != c.plan:
			t.Errorf("%s on %q: %s, want %s", c.text, c.cluster, a.Plan, c.plan)
		}
	}
}

// TestLaunchPredicts: the prediction beside an evaluation is infer's own.
func TestLaunchPredicts(t *testing.T) {
	r := launchOf(t, "vllm", "llama-3.1-8b", "h100x8")
	r.Serve.ISL, r.Serve.OSL, r.Concurrency = 1024, 128, []int{1, 16}
	var err error
	if r.ServingText, err = plan.ParseServing("tp=2"); err != nil {
		t.Fatal(err)
	}
	a, err := Launch(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Predictions) != 2 {
		t.Fatalf("%d predictions, want 2", len(a.Predictions))
	}
	i, err := Infer(context.Background(), &InferRequest{Model: r.Model, Clusters: []*hw.Cluster{r.Cluster}, Plan: r.ServingText, ISL: 1024, OSL: 128, Concurrency: r.Concurrency, Engine: "vllm"})
	if err != nil {
		t.Fatal(err)
	}
	for n, p := range a.Predictions {
		if want := i.Best.Points[n]; p.TPOT != float64(want.TPOT) || p.Concurrency != want.Concurrency {
			t.Errorf("concurrency %d: TPOT %g, infer's %g", p.Concurrency, p.TPOT, float64(want.TPOT))
		}
		if want, ok := i.Best.Points[n].TPOTRange(); !ok || len(p.TPOTRange) != 2 || p.TPOTRange[0] != float64(want[0]) || p.TPOTRange[1] != float64(want[1]) {
			t.Errorf("concurrency %d: range %v, infer's %v", p.Concurrency, p.TPOTRange, want)
		}
		if line := p.String(); !strings.Contains(line, "80 % of measured services lie at a TTFT of ") || !strings.Contains(line, " and a TPOT of "+unit.FormatSeconds(unit.Seconds(p.TPOTRange[0]))+" to ") || !strings.Contains(a.Files[len(a.Files)-1].Content, line) {
			t.Errorf("the README says %q", line)
		}
	}
}

// TestLaunchPredictsWhatItWrites: the prediction is of the layout that is written, not of
// one that fills the cluster, under the limits and the speculation that are written.
func TestLaunchPredictsWhatItWrites(t *testing.T) {
	for _, c := range []struct{ engine, text, same string }{
		{"vllm", "tp=2", "tp=2,replicas=1"},
		{"sglang", "dp=4", "tp=1,pp=1,dp=4,ep=1,replicas=1"},
		{"sglang", "prefill:tp=1;decode:tp=2,workers=2", "prefill:tp=1,workers=1;decode:tp=2,workers=2"},
	} {
		r := launchOf(t, c.engine, "llama-3.1-8b", "h100x8")
		r.Serve.ISL, r.Serve.OSL, r.Concurrency = 1024, 128, []int{64}
		r.Serve.MaxSequences, r.Serve.BatchTokens, r.Serve.KV = 32, 2048, "fp8"
		var err error
		if r.ServingText, err = plan.ParseServing(c.text); err != nil {
			t.Fatal(err)
		}
		a, err := Launch(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		q := &InferRequest{Model: r.Model, Clusters: []*hw.Cluster{r.Cluster}, ISL: 1024, OSL: 128, Concurrency: r.Concurrency, Engine: c.engine, Slots: 32, Chunk: 2048, KV: []unit.Format{unit.FP8}}
		if q.Plan, err = plan.ParseServing(c.same); err != nil {
			t.Fatal(err)
		}
		i, err := Infer(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if want := i.Best.Points[0]; len(a.Predictions) != 1 || a.Predictions[0].TPOT != float64(want.TPOT) || a.Predictions[0].TTFT != float64(want.TTFT) || a.GPUs != want.Layout.GPUs() {
			t.Errorf("%s %s on %d GPUs: %v, infer of %d GPUs says %v and %v", c.engine, c.text, a.GPUs, a.Predictions, want.Layout.GPUs(), want.TTFT, want.TPOT)
		}
	}
}

// TestLaunchSaysWhatDoesNotFit: with the words and figures of infer and train.
func TestLaunchSaysWhatDoesNotFit(t *testing.T) {
	for _, c := range []struct{ engine, model, cluster, text, says, err string }{
		{"vllm", "deepseek-r1", "h200x8", "tp=8", "", ""},
		{"vllm", "deepseek-r1", "h200x8", "tp=4", "does not fit h200x8: it needs 173.58 GB of 135.72 GB usable (tp=4)", ""},
		{"vllm", "deepseek-r1", "h200x8", "tp=16", "", "needs 16 GPUs and the cluster has 8"},
		{"sglang", "deepseek-r1", "h20x64", "prefill:dp=8,ep=8,workers=2;decode:dp=16,ep=16", "does not fit h20x64: it needs ", ""},
		{"sglang", "deepseek-r1", "h20x24", "prefill:dp=8,ep=8,workers=2;decode:dp=16,ep=16", "", "needs 32 GPUs and the cluster has 24"},
		{"megatron-lm", "deepseek-v3", "h800x2048", "pp=1,ep=8", "does not fit h800x2048: it needs ", ""},
		{"megatron-lm", "llama-3.1-8b", "h100x16", "tp=8,sp=1", "", ""},
		{"megatron-lm", "llama-3.1-8b", "h100x16", "tp=8,dp=4", "", "needs 32 GPUs and the cluster has 16"},
	} {
		r := launchOf(t, c.engine, c.model, c.cluster)
		var err error
		if c.engine == "megatron-lm" {
			r.Train = launch.TrainOptions{GlobalBatch: 16384, Seq: 4096}
			if r.Precision, err = plan.ParsePrecision("bf16"); err == nil {
				r.Fixed, err = plan.Parse(c.text)
			}
		} else {
			r.ServingText, err = plan.ParseServing(c.text)
		}
		if err != nil {
			t.Fatal(err)
		}
		a, err := Launch(context.Background(), r)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s on %s: %v, want %q", c.text, c.cluster, err, c.err)
			}
		case err != nil:
			t.Errorf("%s on %s: %v", c.text, c.cluster, err)
		case c.says == "" && len(a.Warnings) > 0, c.says != "" && (len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], c.says)):
			t.Errorf("%s on %s warns %q, want %q", c.text, c.cluster, a.Warnings, c.says)
		}
	}
}
