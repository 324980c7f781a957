package bench

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// Dist is a distribution of raw values: percentiles by linear interpolation
// between the two nearest ranks (definition 7 of Hyndman and Fan, 1996; numpy's
// default). A distribution of nothing has N = 0 and is null in JSON but for n: no
// sample is never the value 0.
type Dist struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	// Std is the standard deviation of the samples (n - 1), 0 for a single one.
	Std float64 `json:"std"`
}

// NewDist is the distribution of samples, which it sorts. Values that are no
// number or infinite are left out: they come of a defect, not of a service.
func NewDist(samples []float64) Dist {
	samples = slices.DeleteFunc(samples, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	n := len(samples)
	if n == 0 {
		return Dist{}
	}
	slices.Sort(samples)
	d := Dist{N: n, Min: samples[0], Max: samples[n-1]}
	for _, v := range samples {
		d.Mean += v / float64(n)
	}
	for _, v := range samples {
		d.Std += (v - d.Mean) * (v - d.Mean)
	}
	d.Std = math.Sqrt(d.Std / float64(max(n-1, 1)))
	d.P50, d.P90, d.P95, d.P99 = Quantile(samples, 0.50), Quantile(samples, 0.90), Quantile(samples, 0.95), Quantile(samples, 0.99)
	return d
}

// Quantile of sorted samples, at least one: with h = q (n - 1),
// x[floor h] + (h - floor h)(x[floor h + 1] - x[floor h]).
func Quantile(sorted []float64, q float64) float64 {
	h := q * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// milliseconds is a time in the unit of the reports.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// sample is the distribution of a metric in milliseconds over the records that
// have it.
func sample(records []*Record, metric func(*Record) (time.Duration, bool)) Dist {
	var list []float64
	for _, r := range records {
		if d, ok := metric(r); ok {
			list = append(list, milliseconds(d))
		}
	}
	return NewDist(list)
}

// MarshalJSON writes nulls where there is no sample.
func (d Dist) MarshalJSON() ([]byte, error) {
	type plain Dist
	if d.N > 0 {
		return json.Marshal(plain(d))
	}
	return []byte(`{"n":0,"mean":null,"p50":null,"p90":null,"p95":null,"p99":null,"min":null,"max":null,"std":null}`), nil
}

// At is the statistic of that name: mean, p50, p90, p95, p99, min or max; ok is
// false where nothing was measured.
func (d Dist) At(statistic string) (v float64, ok bool) {
	v, known := map[string]float64{"mean": d.Mean, "p50": d.P50, "p90": d.P90, "p95": d.P95, "p99": d.P99, "min": d.Min, "max": d.Max}[statistic]
	return v, known && d.N > 0
}

// Statistics are the names that Dist.At knows, in the order of reports.
var Statistics = []string{"mean", "p50", "p90", "p95", "p99", "min", "max"}
