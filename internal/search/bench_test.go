package search

import (
	"context"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
)

// gptSpace is the exhaustive space of GPT-3 175B on 2,048 H100: tensor, pipeline,
// virtual-pipeline and data parallelism, micro-batch, every set of recompute
// modules, ZeRO, sequence parallelism and every set of overlaps.
func gptSpace(tb testing.TB) (*train.Evaluator, *Space) {
	m, err := catalog.Model("gpt3-175b")
	if err != nil {
		tb.Fatal(err)
	}
	c, err := catalog.Cluster("h100x2048")
	if err != nil {
		tb.Fatal(err)
	}
	j := plan.NewJob(m, int(c.GPUs), int(c.Node.GPUs), 3072, 2048, 0)
	e, err := train.NewEvaluator(j, c, 0)
	if err != nil {
		tb.Fatal(err)
	}
	s := NewSpace(j, nil, plan.Precisions["bf16"])
	s.TP, s.CP = divisors(128), []int{1}
	s.Recompute = nil
	for r := plan.ReNone; r < plan.ReMoE; r++ {
		if r&plan.ReMLAUp == 0 { // GPT-3 has no latent projections
			s.Recompute = append(s.Recompute, r)
		}
	}
	s.Recompute = append(s.Recompute, plan.ReFull)
	s.Overlap = nil
	for i := range 8 {
		s.Overlap = append(s.Overlap, plan.Overlap{TP: i&1 > 0, DP: i&2 > 0, PP: i&4 > 0})
	}
	s.Offload = []bool{false, true}
	return e, s
}

func BenchmarkGPT3(b *testing.B) {
	e, s := gptSpace(b)
	for b.Loop() {
		out, err := Run(context.Background(), e, s, Options{})
		if err != nil {
			b.Fatal(err)
		}
		n := float64(out.Count.Evaluated())
		b.ReportMetric(n, "plans")
		b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "plans/s")
		b.ReportMetric(float64(out.Count.LaidOut), "laid-out")
		b.Logf("%+v best %s %.3f s", out.Count, out.Plans[0].Plan.String(), out.Plans[0].Step)
	}
}
