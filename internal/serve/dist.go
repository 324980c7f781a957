package serve

import (
	"math"
	"slices"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// Dist is a distribution. Of times in seconds; percentiles by the nearest rank:
// the p-th of n sorted values is number ceil(p n).
type Dist struct {
	N                  int64
	Mean               float64
	P50, P90, P95, P99 float64
	Min, Max           float64
}

// percentiles of a Dist, in the order of its fields.
var percentiles = [...]float64{0.5, 0.9, 0.95, 0.99}

// distOf is the exact distribution of times; it sorts them.
func distOf(times []time.Duration) Dist {
	n := len(times)
	if n == 0 {
		return Dist{}
	}
	slices.Sort(times)
	sum := 0.0
	for _, t := range times {
		sum += t.Seconds()
	}
	at := func(p float64) float64 { return times[max(int(math.Ceil(p*float64(n))), 1)-1].Seconds() }
	return Dist{N: int64(n), Mean: sum / float64(n), P50: at(0.5), P90: at(0.9), P95: at(0.95), P99: at(0.99), Min: times[0].Seconds(), Max: times[n-1].Seconds()}
}

// of gathers one metric of the records that have it.
func of(records []*workload.Record, metric func(*workload.Record) (time.Duration, bool)) Dist {
	times := make([]time.Duration, 0, len(records))
	for _, r := range records {
		if t, ok := metric(r); ok {
			times = append(times, t)
		}
	}
	return distOf(times)
}

// overTime is the distribution of a level, weighted with the time spent at each,
// scaled so that level n is n x unit. N is 0 where no time was spent.
func overTime(levels []time.Duration, unit float64) (d Dist) {
	total, weighted := time.Duration(0), 0.0
	for n, t := range levels {
		total += t
		weighted += float64(n) * t.Seconds()
	}
	if total == 0 {
		return d
	}
	d = Dist{N: 1, Mean: weighted / total.Seconds() * unit, Min: math.Inf(1)}
	into := [...]*float64{&d.P50, &d.P90, &d.P95, &d.P99}
	sum, next := time.Duration(0), 0
	for n, t := range levels {
		if t == 0 {
			continue
		}
		v := float64(n) * unit
		d.Min, d.Max = min(d.Min, v), v
		sum += t
		for next < len(percentiles) && sum.Seconds() >= percentiles[next]*total.Seconds() {
			*into[next] = v
			next++
		}
	}
	return d
}

// gapsDist is the distribution of the gaps between tokens, within 0.1 %.
func (m *meters) gapsDist() Dist {
	h := m.gaps
	if h.TotalCount() == 0 {
		return Dist{}
	}
	at := func(p float64) float64 { return time.Duration(h.ValueAtQuantile(p)).Seconds() }
	return Dist{N: h.TotalCount(), Mean: h.Mean() / 1e9, P50: at(50), P90: at(90), P95: at(95), P99: at(99),
		Min: time.Duration(h.Min()).Seconds(), Max: time.Duration(h.Max()).Seconds()}
}
