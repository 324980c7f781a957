package serve

import (
	"context"
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// real is a catalogue model on catalogue machines.
func real(t testing.TB, name, cluster string, p plan.Serving, engine ...string) *infer.Engine {
	t.Helper()
	m, err := catalog.Model(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Cluster(cluster)
	if err != nil {
		t.Fatal(err)
	}
	weights, experts, kv := infer.CheckpointFormats(m)
	setup := &infer.Setup{Model: m, Cluster: c, Plan: p, Weights: weights, Experts: experts, KV: kv}
	if len(engine) > 0 {
		if setup.Profile, err = infer.FindProfile(engine[0], c.Device.Arch); err != nil {
			t.Fatal(err)
		}
	}
	e, err := infer.New(setup)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func service(t testing.TB, e *infer.Engine) *Service {
	t.Helper()
	x, err := Of(e)
	if err != nil {
		t.Fatal(err)
	}
	return &Service{Engine: x}
}

// closed is a closed loop of lengths within 20 % of the nominal ones.
func closed(t testing.TB, isl, osl, concurrency, n int) *workload.Workload {
	t.Helper()
	about := func(n int) workload.Length { return workload.Length{Low: n - n/5, High: n + n/5} }
	w, err := (&workload.Synthetic{Input: about(isl), Output: about(osl), Concurrency: concurrency, Requests: n}).Generate()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// alike is a closed loop of equal lengths whose users come as Ramp says.
func alike(t testing.TB, s *Service, isl, osl, concurrency, n int) *workload.Workload {
	t.Helper()
	w, err := (&workload.Synthetic{Input: workload.Length{Low: isl, High: isl}, Output: workload.Length{Low: osl, High: osl}, Concurrency: concurrency, Requests: n}).Generate()
	if err == nil {
		w.Ramp, err = Ramp(context.Background(), s, w, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Simulation and closed form are two views of one price. Where requests hardly
// queue, from one user to the load that the closed form trusts itself with, means agree
// within these shares, for lengths within 20 % of the nominal ones and for equal ones;
// the simulation differs by whole steps and whole prompts. A mean TTFT is a few steps
// long: users of a closed loop send as a step starts, where the formula takes its middle.
// Of equal lengths those who come while a long step lasts are read together, in the formula's
// groups, too. Of many users, the simulation's groups part only as their ways to the queue differ:
// its TTFT is up to 1.5 times the formula's, which measured runs of equal lengths agree with
// (TestEqualLengthsAsMeasured of package validate).
func TestSteadyStateAgreesWithTheClosedForm(t *testing.T) {
	type shares map[string]float64
	varied, equal, merged := shares{"tpot": 0.052, "output": 0.03, "ttft": 0.21}, shares{"tpot": 0.04, "output": 0.03, "ttft": 0.2}, shares{"tpot": 0.052, "output": 0.03, "ttft": 0.5}
	one := plan.Serving{TP: 1, PP: 1, DP: 1, EP: 1, DCP: 1, Replicas: 1}
	tp := func(n int) plan.Serving { p := one; p.TP = n; return p }
	for _, c := range []struct {
		model, cluster, engine string
		plan                   plan.Serving
		isl, osl               int
		concurrency            []int
	}{
		{"deepseek-r1", "h200x8", "vllm", tp(8), 1024, 1024, []int{1, 4, 16, 64, 256}},
		{"deepseek-r1", "h200x8", "vllm", tp(8), 1024, 512, []int{32}},
		{"deepseek-r1", "h200x8", "vllm", plan.Serving{TP: 1, PP: 1, DP: 8, EP: 8, DCP: 1, Replicas: 1}, 1024, 512, []int{1, 16, 64}},
		{"llama-3.1-8b", "h100x1", "vllm", one, 2048, 256, []int{1, 4, 16, 64}},
		{"llama-3.1-70b", "h100x4", "vllm", tp(4), 512, 512, []int{1, 4, 16, 64, 256}},
		{"llama-3.1-70b", "h100x4", "trtllm", tp(4), 1024, 256, []int{1, 4, 16, 64}},
		{"llama-3.1-70b", "h100x4", "sglang", tp(4), 1024, 256, []int{1, 4, 16, 64, 128}},
		{"qwen3-32b", "h100x2", "sglang", tp(2), 2048, 512, []int{1, 8, 32}},
	} {
		e := real(t, c.model, c.cluster, c.plan, c.engine)
		s := service(t, e)
		for _, n := range c.concurrency {
			if testing.Short() && n > 16 {
				continue // thousands of requests, slow under the race detector
			}
			requests := 10 * max(n, 8)
			equal := equal
			if n > 16 {
				equal = merged
			}
			for name, x := range map[string]struct {
				load      *workload.Workload
				tolerance shares
				seeds     int // of when users come
			}{"varied": {closed(t, c.isl, c.osl, n, requests), varied, 1}, "equal": {alike(t, s, c.isl, c.osl, n, requests), equal, 4}} {
				p, err := infer.Steady(e, &infer.Load{ISL: int64(c.isl), OSL: int64(c.osl), Concurrency: int64(n), Fixed: name == "equal"})
				if err != nil {
					t.Fatal(err)
				}
				if !p.Valid() {
					t.Fatalf("%s at %d users: the closed form does not trust itself", c.model, n)
				}
				var tpot, output, ttft float64
				for seed := range x.seeds {
					m, share := run(t, s, x.load, Options{Seed: uint64(seed)}).Mean(), 1/float64(x.seeds)
					tpot, output, ttft = tpot+m.TPOT.Mean*share, output+m.OutputRate*share, ttft+m.TTFT.Mean*share
				}
				for what, v := range map[string][2]float64{"tpot": {tpot, float64(p.TPOT)}, "output": {output, p.Output}, "ttft": {ttft, float64(p.Steady)}} {
					if gap := v[0]/v[1] - 1; math.Abs(gap) > x.tolerance[what] {
						t.Errorf("%s on %s, %s, %d users of %s lengths: %s %.4g, closed form %.4g (%+.1f %%)", c.model, c.engine, c.plan.String(), n, name, what, v[0], v[1], 100*gap)
					}
				}
			}
		}
	}
}

// Replicas of DP attention step together, and each reads prompts in the steps of all:
// what a prompt costs depends on how many share its step. Where lengths vary that is
// chance, and the closed form agrees as on one replica; lengths within half of the
// nominal ones, since the opening burst lasts for rounds where they vary less. Users of
// equal lengths agree within 11 %, as their groups form anew in both; long steps follow one
// another and hold newcomers up in the closed form as in the simulation.
func TestReplicasReadPromptsInTheSameSteps(t *testing.T) {
	const isl, osl, rounds = 4096, 1024, 20
	for _, c := range []struct {
		cluster string
		dp, n   int
	}{{"h200x8", 8, 128}, {"h200x8", 8, 512}, {"h200x16", 16, 512}, {"h800x32", 32, 256}, {"h800x32", 32, 1024}} {
		if testing.Short() && c.n > 256 {
			continue
		}
		e := real(t, "deepseek-r1", c.cluster, plan.Serving{TP: 1, PP: 1, DP: c.dp, EP: c.dp, DCP: 1, Replicas: 1}, "vllm")
		s := service(t, e)
		half := func(n int) workload.Length { return workload.Length{Low: n / 2, High: n + n/2} }
		varied, err := (&workload.Synthetic{Input: half(isl), Output: half(osl), Concurrency: c.n, Requests: rounds * c.n}).Generate()
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string]struct {
			load *workload.Workload
			rate float64 // tolerance of steps and tokens
			ttft float64
		}{"varied": {varied, 0.03, 0.16}, "equal": {alike(t, s, isl, osl, c.n, rounds/2*c.n), 0.11, 0.07}} {
			p, err := infer.Steady(e, &infer.Load{ISL: isl, OSL: osl, Concurrency: int64(c.n), Fixed: name == "equal"})
			if err != nil {
				t.Fatal(err)
			}
			m := run(t, s, x.load, Options{}).Mean()
			for what, v := range map[string][3]float64{"tpot": {m.TPOT.Mean, float64(p.TPOT), x.rate}, "output": {m.OutputRate, p.Output, x.rate}, "ttft": {m.TTFT.Mean, float64(p.Steady), x.ttft}} {
				gap := v[0]/v[1] - 1
				t.Logf("%s, %d users of %s lengths: %s %.4g, closed form %.4g (%+.1f %%)", c.cluster, c.n, name, what, v[0], v[1], 100*gap)
				if math.Abs(gap) > v[2] {
					t.Errorf("%s, %d users of %s lengths: %s is off by more than %.0f %%", c.cluster, c.n, name, what, 100*v[2])
				}
			}
		}
	}
}

// BenchmarkDeepSeek is 100,000 requests through 8 GPUs, in closed loops of 128
// and 256 users, through one rank and eight.
func BenchmarkDeepSeek(b *testing.B) {
	one := plan.Serving{TP: 8, PP: 1, DP: 1, EP: 1, DCP: 1, Replicas: 1}
	eight := plan.Serving{TP: 1, PP: 1, DP: 8, EP: 8, DCP: 1, Replicas: 1}
	for _, c := range []struct {
		name            string
		plan            plan.Serving
		isl, osl, users int
	}{{"tp8/1k-256", one, 1024, 256, 128}, {"tp8/1k-1k", one, 1024, 1024, 256}, {"dp8/4k-256", eight, 4096, 256, 256}} {
		b.Run(c.name, func(b *testing.B) {
			s, w := service(b, real(b, "deepseek-r1", "h200x8", c.plan)), closed(b, c.isl, c.osl, c.users, 100_000)
			b.ReportAllocs()
			for b.Loop() {
				r := run(b, s, w, Options{})
				b.ReportMetric(r.Whole.Batch.Mean, "sequences/step")
				b.ReportMetric(float64(r.Output), "tokens")
			}
		})
	}
}
