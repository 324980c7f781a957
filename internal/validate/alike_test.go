package validate

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Who is right about closed loops of equal lengths, the closed form or the simulation,
// is for measured runs to say (inference_runs.csv, source lab, whose lengths are fixed;
// every fourth one, up to 128 users). Time to first token, predicted over measured,
// median: the users of an engine that reads prompts first march in step, those of
// engines that mix prompts with generation do not, though the simulation of users who
// start together never lets them out of step.
func TestEqualLengthsAsMeasured(t *testing.T) {
	f, err := os.Open("../../../shared/measured/inference_runs.csv")
	if err != nil {
		t.Skip("no measured runs: ", err)
	}
	defer f.Close()
	runs, _, err := ReadServing(f, f.Name())
	if err != nil {
		t.Fatal(err)
	}
	p := &ServingPredictor{Configs: "../../../shared/hf-configs"}
	for engine, want := range map[string]struct{ together, formula, spread [2]float64 }{
		"vllm":   {together: [2]float64{2, 9}, formula: [2]float64{0.85, 1.1}, spread: [2]float64{0.65, 1.1}},
		"trtllm": {together: [2]float64{1.5, 9}, formula: [2]float64{0.8, 1.1}, spread: [2]float64{0.65, 1.1}},
		"sglang": {together: [2]float64{0.85, 1.15}, formula: [2]float64{0.85, 1.15}, spread: [2]float64{0.85, 1.15}},
	} {
		var together, formula, spread []float64
		for i := range runs {
			r := &runs[i]
			if i%4 != 0 || r.Engine != engine || r.Varied || r.Split != nil || r.speculates() || r.TTFT == 0 || r.Plan.Replicas > 1 || r.Concurrency*r.OSL > 1<<17 {
				continue
			}
			x, err := p.Predict(r)
			if err != nil {
				t.Fatal(err)
			}
			formula = append(formula, 1e3*float64(x.Point.TTFT)/r.TTFT)
			together = append(together, simulated(t, p, r, false)/r.TTFT)
			spread = append(spread, simulated(t, p, r, true)/r.TTFT)
		}
		for name, x := range map[string]struct {
			ratios []float64
			want   [2]float64
		}{"users who start together": {together, want.together}, "the closed form": {formula, want.formula}, "users who come as Ramp says": {spread, want.spread}} {
			slices.Sort(x.ratios)
			got := x.ratios[len(x.ratios)/2]
			t.Logf("%s, %s: %.2f of measured TTFT, median of %d", engine, name, got, len(x.ratios))
			if got < x.want[0] || got > x.want[1] {
				t.Errorf("%s, %s: %.2f of measured TTFT, want %v", engine, name, got, x.want)
			}
		}
	}
}

// simulated is the mean TTFT of a run, simulated, in ms.
func simulated(t *testing.T, p *ServingPredictor, r *ServingRun, ramp bool) float64 {
	t.Helper()
	e, err := serve.Of(p.build(r, r.Plan, r.GPUs).engine)
	if err != nil {
		t.Fatal(err)
	}
	s, ctx := &serve.Service{Engine: e}, context.Background()
	one := func(n int) workload.Length { return workload.Length{Low: n, High: n} }
	w, err := (&workload.Synthetic{Input: one(r.ISL), Output: one(r.OSL), Concurrency: r.Concurrency, Requests: infer.DefaultRounds * max(r.Concurrency, 10)}).Generate()
	if err == nil && ramp {
		w.Ramp, err = serve.Ramp(ctx, s, w, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	res, err := serve.Run(ctx, s, w, serve.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return 1e3 * res.Mean().TTFT.Mean
}
