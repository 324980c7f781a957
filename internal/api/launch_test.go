package api

import (
	"context"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/launch"
	"github.com/ridgeline/ridgeline/internal/plan"
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
	}
}
