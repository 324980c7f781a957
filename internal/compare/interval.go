package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// confidence is that of all intervals.
const confidence = 0.95

// Resamples of a bootstrap: so many, fewer where there are many values, for the
// work is their product.
const (
	mostResamples  = 2000
	leastResamples = 400
	work           = 8_000_000
)

// leastValues is from how many requests on a bootstrap means something.
const leastValues = 8

// statistic is one that is compared, of sorted values: the mean, or a quantile.
type statistic struct {
	name     string
	quantile float64 // 0 = the mean
	of       func(sorted []float64) float64
}

// least is how many requests a quantile's interval takes: of fewer it may lie beyond
// the largest of them (or the smallest) more often than the confidence allows, which no
// resampling of them can know. The largest of n is below the quantile q with the
// probability q^n.
func (s *statistic) least() int {
	if s.quantile == 0 {
		return leastValues
	}
	return max(leastValues, int(math.Ceil(math.Log((1-confidence)/2)/math.Log(max(s.quantile, 1-s.quantile)))))
}

// Least is how many requests the interval of a statistic (mean, p50, p90, p99) takes.
func Least(name string) int {
	i := slices.IndexFunc(statistics, func(s statistic) bool { return s.name == name })
	return statistics[i].least()
}

var statistics = []statistic{
	{"mean", 0, func(x []float64) float64 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum / float64(len(x))
	}},
	{"p50", 0.50, func(x []float64) float64 { return bench.Quantile(x, 0.50) }},
	{"p90", 0.90, func(x []float64) float64 { return bench.Quantile(x, 0.90) }},
	{"p99", 0.99, func(x []float64) float64 { return bench.Quantile(x, 0.99) }},
}

// interval is low and high of a change B/A - 1.
type interval struct{ low, high float64 }

// bootstrap gives the interval of each statistic's change. The draws are a function
// of the values' number, so that the same runs compare alike every time.
func bootstrap(a, b []float32) []interval {
	n := min(mostResamples, max(leastResamples, work/(len(a)+len(b))))
	rng := rand.New(rand.NewPCG(uint64(len(a)), uint64(len(b))))
	changes := make([][]float64, len(statistics))
	x, y := make([]float64, len(a)), make([]float64, len(b))
	for range n {
		resample(x, a, rng)
		resample(y, b, rng)
		for i, s := range statistics {
			changes[i] = append(changes[i], s.of(y)/s.of(x)-1)
		}
	}
	out := make([]interval, len(statistics))
	for i, c := range changes {
		slices.Sort(c)
		tail := (1 - confidence) / 2
		if statistics[i].quantile == 0 {
			tail = outside(min(len(a), len(b)))
		}
		out[i] = interval{bench.Quantile(c, tail), bench.Quantile(c, 1-tail)}
	}
	return out
}

// outside is the share of resampled changes below an interval of a mean of n values, and above it:
// means of resamples of few values differ less than those of samples do, by the root of (n - 1)/n, and by as
// much as Student's t is wider than the normal distribution (the expanded percentile
// interval of Hesterberg 2015, What Teachers Should Know About the Bootstrap, 4.3). Quantiles
// of resamples are values of the sample and differ enough.
func outside(n int) float64 {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile((1 - confidence) / 2)
	return distuv.UnitNormal.CDF(t * math.Sqrt(float64(n)/float64(n-1)))
}

// resample draws with replacement, and sorts.
func resample(into []float64, from []float32, rng *rand.Rand) {
	for i := range into {
		into[i] = float64(from[rng.IntN(len(from))])
	}
	slices.Sort(into)
}

// welch is the interval of the change of the mean, from Welch's for the difference
// of two means with Satterthwaite's degrees of freedom (Welch 1947), over A's mean;
// ok is false where a side does not state its deviation. What is measured is above 0, and so no
// change is below -1.
func welch(a, b bench.Dist) (i interval, ok bool) {
	if a.N < 2 || b.N < 2 || !(a.Std >= 0) || !(b.Std >= 0) || !(a.Mean > 0) || math.IsNaN(b.Mean) {
		return i, false
	}
	va, vb := a.Std*a.Std/float64(a.N), b.Std*b.Std/float64(b.N)
	change := b.Mean/a.Mean - 1
	if va+vb == 0 {
		return interval{change, change}, true
	}
	freedom := (va + vb) * (va + vb) / (va*va/float64(a.N-1) + vb*vb/float64(b.N-1))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile((1 + confidence) / 2)
	half := t * math.Sqrt(va+vb) / a.Mean
	return interval{max(change-half, -1), change + half}, true
}
