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
	for i, v := range samples {
		d.Mean += (v - d.Mean) / float64(i+1) // of rising values: never beyond them by rounding
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

// distDoc is a distribution in JSON.
type distDoc struct {
	N    int      `json:"n"`
	Mean *float64 `json:"mean"`
	P50  *float64 `json:"p50"`
	P90  *float64 `json:"p90"`
	P95  *float64 `json:"p95"`
	P99  *float64 `json:"p99"`
	Min  *float64 `json:"min"`
	Max  *float64 `json:"max"`
	Std  *float64 `json:"std"`
}

// fields pairs what a distribution holds with where it stands in JSON.
func (d *Dist) fields(doc *distDoc) map[*float64]**float64 {
	return map[*float64]**float64{&d.Mean: &doc.Mean, &d.P50: &doc.P50, &d.P90: &doc.P90, &d.P95: &doc.P95, &d.P99: &doc.P99,
		&d.Min: &doc.Min, &d.Max: &doc.Max, &d.Std: &doc.Std}
}

// MarshalJSON writes nulls where there is no sample, and for a statistic that
// another tool did not state (NaN).
func (d Dist) MarshalJSON() ([]byte, error) {
	doc := distDoc{N: d.N}
	for value, field := range d.fields(&doc) {
		if d.N > 0 && !math.IsNaN(*value) {
			*field = value
		}
	}
	return json.Marshal(doc)
}

// UnmarshalJSON reads what MarshalJSON wrote: what is null is not known.
func (d *Dist) UnmarshalJSON(b []byte) error {
	var doc distDoc
	if err := json.Unmarshal(b, &doc); err != nil {
		return err
	}
	if *d = (Dist{N: doc.N}); d.N <= 0 {
		*d = Dist{}
		return nil
	}
	for value, field := range d.fields(&doc) {
		if *value = math.NaN(); *field != nil {
			*value = **field
		}
	}
	return nil
}

// At is the statistic of that name: mean, p50, p90, p95, p99, min or max; ok is
// false where nothing was measured, or it was not stated.
func (d Dist) At(statistic string) (v float64, ok bool) {
	v, known := map[string]float64{"mean": d.Mean, "p50": d.P50, "p90": d.P90, "p95": d.P95, "p99": d.P99, "min": d.Min, "max": d.Max}[statistic]
	return v, known && d.N > 0 && !math.IsNaN(v)
}

// Statistics are the names that Dist.At knows, in the order of reports.
var Statistics = []string{"mean", "p50", "p90", "p95", "p99", "min", "max"}

// Promises are those that an objective may hold for: not min, which one good request keeps.
var Promises = slices.DeleteFunc(slices.Clone(Statistics), func(s string) bool { return s == "min" })
