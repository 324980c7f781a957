package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// side is a measurement whose TTFTs are drawn about a mean.
func side(n int, mean float64, seed uint64) Side {
	rng := rand.New(rand.NewPCG(seed, 1))
	values := make([]float32, n)
	plain := make([]float64, n)
	for i := range values {
		plain[i] = mean * math.Exp(0.3*rng.NormFloat64())
		values[i] = float32(plain[i])
	}
	s := bench.Stage{Mode: bench.Closed, Concurrency: 4}
	s.Basis, s.TTFT, s.OutputRate, s.Client.Valid = bench.Service, bench.NewDist(plain), 100, true
	return Side{&bench.Report{Stages: []bench.Stage{s}}, func(stage int, metric string) []float32 {
		if metric == "ttft" {
			return values
		}
		return nil
	}}
}

func find(t *testing.T, c *Comparison, metric, statistic string) Row {
	t.Helper()
	for _, r := range c.Pairs[0].Rows {
		if r.Metric == metric && r.Statistic == statistic {
			return r
		}
	}
	t.Fatalf("no %s %s in %+v", metric, statistic, c)
	return Row{}
}

// Of many pairs of runs that are alike, about one in twenty is said to differ; of
// runs that are 30 % apart, nearly all are. Both methods.
func TestIntervalsHoldWhatTheyPromise(t *testing.T) {
	const pairs = 40
	for _, kept := range []bool{true, false} {
		for _, x := range []struct {
			apart     float64
			low, high int
		}{{1, 0, 8}, {1.4, pairs - 2, pairs}} { // of 40 at 5 %: 2 +- 1.4 expected, 8 is 4.3 deviations off
			differ := 0
			for seed := range uint64(pairs) {
				a, b := side(80, 50, 2*seed), side(80, 50*x.apart, 2*seed+1)
				if !kept {
					a.Values, b.Values = nil, nil
				}
				r := find(t, Measurements(a, b), "ttft", "mean")
				if want := map[bool]string{true: "bootstrap", false: "welch"}[kept]; r.Method != want {
					t.Fatalf("method %s, want %s", r.Method, want)
				}
				if *r.Low > *r.Change || *r.High < *r.Change {
					t.Errorf("the change %g lies outside %g..%g", *r.Change, *r.Low, *r.High)
				}
				if *r.Differs {
					differ++
				}
			}
			if differ < x.low || differ > x.high {
				t.Errorf("kept %v, %g apart: %d of %d differ", kept, x.apart, differ, pairs)
			}
		}
	}
}

// Of few requests too: the plain bootstrap of a mean holds 87 to 92 % of pairs that are alike,
// 95 % are expected, 1.1 % their deviation. That of a median is wider than it need be, for it
// ends at values of the sample; widened as the mean's it would hold up to 99 %.
func TestIntervalsOfFewRequests(t *testing.T) {
	const pairs = 400
	rng := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{leastValues, 10, 16} {
		for _, sigma := range []float64{0.35, 1} {
			var held [2]float64
			for range pairs {
				var x [2][]float32
				for i := range x {
					for range n {
						x[i] = append(x[i], float32(math.Exp(sigma*rng.NormFloat64())))
					}
				}
				list := bootstrap(x[0], x[1])
				for k := range held {
					if list[k].low <= 0 && list[k].high >= 0 {
						held[k] += 1. / pairs
					}
				}
			}
			for k, most := range []float64{0.97, 0.985} {
				if share := held[k]; share < 0.93 || share > most {
					t.Errorf("%d requests, sigma %g: intervals of the %s hold %.1f %%", n, sigma, statistics[k].name, 100*held[k])
				}
			}
		}
	}
}

// Welch's own interval by hand: means 10 and 12, deviations 2 and 3, 16 and 25
// values: sqrt(4/16 + 9/25) = 0.7810, 38.99 degrees of freedom, t = 2.0227.
func TestWelchByHand(t *testing.T) {
	w, ok := welch(bench.Dist{N: 16, Mean: 10, Std: 2}, bench.Dist{N: 25, Mean: 12, Std: 3})
	if half := (w.high - w.low) / 2 * 10; !ok || math.Abs(half-1.5798) > 1e-3 || math.Abs(w.low+w.high-0.4) > 1e-12 {
		t.Errorf("%+v, half width %.4f", w, half)
	}
	if _, ok := welch(bench.Dist{N: 16, Mean: 10, Std: math.NaN()}, bench.Dist{N: 25, Mean: 12, Std: 3}); ok {
		t.Error("a deviation that nobody states gave an interval")
	}
}

func TestSameRunsCompareAlike(t *testing.T) {
	a, b := side(50, 40, 1), side(60, 41, 2)
	x, y := find(t, Measurements(a, b), "ttft", "p90"), find(t, Measurements(a, b), "ttft", "p90")
	if *x.Low != *y.Low || *x.High != *y.High {
		t.Errorf("%v..%v and %v..%v", *x.Low, *x.High, *y.Low, *y.High)
	}
}

func TestPairsAreOfEqualLoads(t *testing.T) {
	a, b := side(20, 40, 1), side(20, 40, 2)
	more := b.Report.Stages[0]
	more.Concurrency = 8
	b.Report.Stages = append([]bench.Stage{more}, b.Report.Stages...)
	a.Report.Stages = append(a.Report.Stages, bench.Stage{Mode: bench.Open, Rate: 2, Arrival: "poisson"})
	c := Measurements(a, b)
	if len(c.Pairs) != 1 || c.Pairs[0].Load != "4 in flight" || len(c.Unpaired) != 2 {
		t.Errorf("%+v", c)
	}
}

// A prediction's gap falls apart into what the service says of itself, and the parts
// sum to it.
func TestGapByPart(t *testing.T) {
	points, err := ReadPrediction([]byte(`{"isl": 1, "osl": 2, "best": {"plan": {"tp": 1}, "cluster": "c", "concurrency": 4},
		"points": [{"plan": {"tp": 2}, "cluster": "c", "concurrency": 4, "ttft_seconds": 9},
			{"plan": {"tp": 1}, "cluster": "c", "concurrency": 4, "ttft_seconds": 0.04, "tpot_seconds": null, "output_tokens_per_second": 120}]}`))
	if err != nil || len(points) != 1 {
		t.Fatal(points, err)
	}
	m := side(100, 50, 1)
	server, queue := 48.0, 5.0
	m.Report.Stages[0].Server = &bench.ServerMetrics{TTFT: &server, Queue: &queue}
	g := Prediction(points, m.Report)
	if len(g.Pairs) != 1 || len(g.Pairs[0].Rows) != 2 {
		t.Fatalf("%+v", g)
	}
	r := g.Pairs[0].Rows[0]
	sum := 0.0
	for _, p := range r.Parts {
		sum += p.Value
	}
	if r.Predicted != 40 || math.Abs(sum-(r.Measured-r.Predicted)) > 1e-9 || len(r.Parts) != 2 || math.Abs(r.Parts[1].Value-8) > 1e-9 || *r.Low > r.Measured || *r.High < r.Measured {
		t.Errorf("%+v", r)
	}
	if o := g.Pairs[0].Rows[1]; math.Abs(o.Error-0.2) > 1e-12 {
		t.Errorf("%+v", o)
	}
	if _, err := ReadPrediction([]byte(`{"best": null}`)); err == nil {
		t.Error("no prediction was read as one")
	}
}

// Of twenty requests a bootstrap knows nothing of the slowest hundredth: the largest of
// n lies below the quantile q with probability q^n, which must not pass 2.5 %.
func TestQuantilesOfFewRequestsHaveNoInterval(t *testing.T) {
	for name, want := range map[string]int{"mean": 8, "p50": 8, "p90": 36, "p99": 368} {
		if got := Least(name); got != want {
			t.Errorf("%s takes %d requests, want %d", name, got, want)
		}
	}
	for _, n := range []int{20, 40, 400} {
		c := Measurements(side(n, 50, 1), side(400, 50, 2))
		for _, statistic := range []string{"mean", "p50", "p90", "p99"} {
			r := find(t, c, "ttft", statistic)
			if enough := n >= Least(statistic); (r.Low != nil) != enough || r.Few == enough || r.Change == nil || enough != (r.Method == "bootstrap") {
				t.Errorf("%d requests, %s: %+v", n, statistic, r)
			}
		}
	}
}

// At the least number of requests the interval of a quantile holds the truth as often as
// it says, or nearly: of 60 pairs of one law at 95 %
// 57 are expected, 52 are three deviations off.
func TestQuantileIntervalsHold(t *testing.T) {
	if testing.Short() {
		t.Skip("draws for a second")
	}
	held := 0
	const pairs = 60
	for seed := range uint64(pairs) {
		n := Least("p90")
		r := find(t, Measurements(side(n, 50, 1000+2*seed), side(n, 50, 1001+2*seed)), "ttft", "p90")
		if *r.Low <= 0 && *r.High >= 0 {
			held++
		}
	}
	if held < 52 {
		t.Errorf("%d of %d intervals hold no change", held, pairs)
	}
}

// What is measured is above 0: no change is below -100 %.
func TestWelchOfFewRequests(t *testing.T) {
	if w, ok := welch(bench.Dist{N: 4, Mean: 10, Std: 9}, bench.Dist{N: 4, Mean: 6, Std: 5}); !ok || w.low != -1 || w.high < 0 {
		t.Errorf("%+v", w)
	}
}
