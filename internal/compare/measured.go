package compare

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// Measurements holds B against A, load by load.
func Measurements(a, b Side) *Comparison {
	c := &Comparison{Pairs: []Pair{}, Unpaired: []string{}, Notes: []string{}}
	taken := map[int]bool{}
	for i := range a.Report.Stages {
		s := &a.Report.Stages[i]
		j := -1
		for k := range b.Report.Stages {
			if !taken[k] && load(&b.Report.Stages[k]) == load(s) {
				j = k
				break
			}
		}
		if j < 0 {
			c.Unpaired = append(c.Unpaired, "A alone: "+load(s))
			continue
		}
		taken[j] = true
		c.Pairs = append(c.Pairs, Pair{Load: load(s), Rows: rows(a, i, b, j)})
		c.doubts(s, &b.Report.Stages[j])
	}
	for k := range b.Report.Stages {
		if !taken[k] {
			c.Unpaired = append(c.Unpaired, "B alone: "+load(&b.Report.Stages[k]))
		}
	}
	return c
}

// rows are the statistics of a pair of stages.
func rows(a Side, i int, b Side, j int) (out []Row) {
	s, t := &a.Report.Stages[i], &b.Report.Stages[j]
	for _, metric := range Metrics {
		da, db := dist(s, metric), dist(t, metric)
		if da.N == 0 && db.N == 0 {
			continue
		}
		var drawn []interval
		if x, y := a.values(i, metric), b.values(j, metric); len(x) >= leastValues && len(y) >= leastValues {
			drawn = bootstrap(x, y)
		}
		for k, st := range statistics {
			r := newRow(metric, st.name, "ms", known(da.At(st.name)), known(db.At(st.name)))
			if r.A == nil && r.B == nil {
				continue
			}
			if drawn != nil {
				if n := min(da.N, db.N); n >= st.least() {
					r.bound(drawn[k], "bootstrap")
				} else {
					r.Few = true
				}
			} else if w, ok := welch(da, db); ok && st.name == "mean" {
				r.bound(w, "welch")
			}
			out = append(out, r)
		}
	}
	rate := func(v bench.Figure) *float64 { return known(float64(v), v.Known()) }
	return append(out, newRow("output", "rate", "tokens/s", rate(s.OutputRate), rate(t.OutputRate)),
		newRow("requests", "rate", "1/s", rate(s.RequestRate), rate(t.RequestRate)))
}

func (s Side) values(stage int, metric string) []float32 {
	if s.Values == nil {
		return nil
	}
	return s.Values(stage, metric)
}

func known(v float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &v
}

func newRow(metric, statistic, unit string, a, b *float64) Row {
	r := Row{Metric: metric, Statistic: statistic, Unit: unit, A: a, B: b, Method: "none"}
	if a != nil && b != nil && *a != 0 {
		r.Change = known(*b / *a - 1, true)
	}
	return r
}

// bound gives a row its interval.
func (r *Row) bound(i interval, method string) {
	if r.Change == nil {
		return
	}
	differs := i.low > 0 || i.high < 0
	r.Low, r.High, r.Method, r.Differs = &i.low, &i.high, method, &differs
}

// lengthsApart is from where on different lengths of answers make rates and
// end-to-end times no comparison of services.
const lengthsApart = 0.02

// doubts notes what makes a pair less than a comparison of like with like.
func (c *Comparison) doubts(a, b *bench.Stage) {
	if a.Mode == bench.Unstated {
		c.note("%s: neither file states its load: that both are alike is taken for granted", load(a))
	}
	for i, s := range []*bench.Stage{a, b} {
		name := "AB"[i : i+1]
		if !s.Client.Valid {
			c.note("%s, %s: client not valid: %s", name, load(s), strings.Join(s.Client.Reasons, "; "))
		}
		if n := s.Requests.Failed + s.Requests.Truncated; n > 0 {
			c.note("%s, %s: %d of %d requests did not succeed, latencies are of the others", name, load(s), n, s.Requests.Sent)
		}
	}
	for i, x := range [][2]bench.Dist{{a.Input, b.Input}, {a.Output, b.Output}} {
		what := []string{"prompts", "answers"}[i]
		if x[0].N > 0 && x[1].N > 0 && (x[1].Mean > x[0].Mean*(1+lengthsApart) || x[1].Mean < x[0].Mean*(1-lengthsApart)) {
			c.note("%s: %s have %.0f tokens in A and %.0f in B on average", load(a), what, x[0].Mean, x[1].Mean)
		}
	}
}

func (c *Comparison) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}
