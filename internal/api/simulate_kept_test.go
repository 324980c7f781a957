package api

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// What a search under an objective answers in two roles keeps the objective where it is
// simulated, to 2 %: of equal lengths and of those within 20 % of their means, prompts that fill
// a step of a replica, long and short ones, one prefill worker and several.
func TestSearchedRolesAreKeptWhereSimulated(t *testing.T) {
	if testing.Short() {
		t.Skip("searches and simulations of half a minute")
	}
	for _, c := range []struct {
		model, cluster, engine string
		isl, osl               int
		ttft, tpot             time.Duration
	}{
		{"deepseek-r1", "h800x32", "sglang", 8192, 256, 3 * time.Second, 50 * time.Millisecond},
		{"deepseek-r1", "h200x64", "vllm", 4096, 512, 2 * time.Second, 50 * time.Millisecond},
		{"deepseek-r1", "h200x64", "vllm", 1024, 1024, 2 * time.Second, 50 * time.Millisecond},
		{"deepseek-r1", "h200x32", "vllm", 2048, 256, time.Second, 40 * time.Millisecond},
		{"llama-3.1-70b", "h200x32", "trtllm", 3000, 300, 2 * time.Second, 50 * time.Millisecond},
	} {
		for _, wide := range []int{0, 5} { // lengths within a fifth
			about := func(n int) workload.Length {
				if wide == 0 {
					return workload.Length{Low: n, High: n}
				}
				return workload.Length{Low: n - n/wide, High: n + n/wide}
			}
			what := fmt.Sprintf("%s on %s, %s, %d/%d tokens within %d", c.model, c.cluster, c.engine, c.isl, c.osl, wide)
			r := service(t, "")
			r.Engine, r.ISL, r.OSL, r.SLO = c.engine, int64(c.isl), int64(c.osl), deploy.SLO{TTFT: unit.Seconds(c.ttft.Seconds()), TPOT: unit.Seconds(c.tpot.Seconds())}
			cluster, err := catalog.Cluster(c.cluster)
			if err != nil {
				t.Fatal(err)
			}
			r.Clusters = []*hw.Cluster{cluster}
			if r.Model, err = catalog.Model(c.model); err != nil {
				t.Fatal(err)
			}
			if wide > 0 {
				r.Longest, r.Spread = int64(about(c.isl).High+about(c.osl).High), about(c.isl).Spread()
			}
			best := answerOf(t, r).Best.Best
			if best.Layout.Split == nil {
				t.Errorf("%s: %s is one role: take another question", what, best)
				continue
			}
			load, err := (&workload.Synthetic{Input: about(c.isl), Output: about(c.osl), Concurrency: best.Concurrency, Requests: 10 * best.Concurrency}).Generate()
			if err != nil {
				t.Fatal(err)
			}
			own := *r
			if own.Plan, err = plan.ParseServing(best.Layout.String()); err != nil {
				t.Fatal(err)
			}
			s := &SimulateRequest{Service: &own, Load: load, SLO: serve.SLO{TTFT: c.ttft * 102 / 100, TPOT: c.tpot * 102 / 100}}
			a, err := Simulate(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			if a.Missed != "" {
				t.Errorf("%s: infer answers %s at %d in flight with ttft %v, tpot %v; simulated, %s", what, best, best.Concurrency, best.TTFT, best.TPOT, a.Missed)
			}
		}
	}
}
