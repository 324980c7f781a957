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
	j := plan.NewJob(m, int(c.GPUs), int(c.Node.GPUs), 9216, 2048, 0)
	e, err := train.NewEvaluator(j, c, 0)
	if err != nil {
		tb.Fatal(err)
	}
	s := NewSpace(j, nil, plan.Precisions["bf16"])
	s.TP, s.CP, s.CPAllToAll = divisors(96), []int{1}, []bool{false}
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

// BenchmarkGPT3 looks at every plan of the space; those that a bound proves
// slower are not laid out.
func BenchmarkGPT3(b *testing.B) { benchmark(b, Options{}) }

// BenchmarkGPT3Exhaustive lays out every plan that fits.
func BenchmarkGPT3Exhaustive(b *testing.B) { benchmark(b, Options{Exhaustive: true}) }

func benchmark(b *testing.B, o Options) {
	e, s := gptSpace(b)
	for b.Loop() {
		out, err := Run(context.Background(), e, s, o)
		if err != nil {
			b.Fatal(err)
		}
		n := float64(out.Count.Evaluated())
		b.ReportMetric(n, "plans")
		b.ReportMetric(n/out.Elapsed.Seconds(), "plans/s")
		b.ReportMetric(float64(out.Count.LaidOut), "laid-out")
		b.Logf("%+v best %s %.3f s", out.Count, out.Plans[0].Plan.String(), out.Plans[0].Step)
	}
}
