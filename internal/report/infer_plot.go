package report

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/deploy"
)

// InferCharts are the pictures of an answer: against network latency where the
// question lists round trips; against concurrency where it lists that; and the
// Pareto front where layouts were searched.
func InferCharts(a *api.InferAnswer) []Chart {
	var list []Chart
	if len(a.Request.RTT) > 1 {
		list = append(list, latencyCharts(a)...)
	}
	if len(a.Request.Concurrency) > 1 {
		list = append(list, loadCharts(a)...)
	}
	if c := frontChart(a); c.joined() {
		list = append(list, c)
	}
	return list
}

// joined tells whether any series has two points to join.
func (c *Chart) joined() bool {
	for _, s := range c.Series {
		if len(s.Points) > 1 {
			return true
		}
	}
	return false
}

// latencyCharts draw against the round trip, a line per other setting and
// concurrency, beside what was measured.
func latencyCharts(a *api.InferAnswer) []Chart {
	tpot := Chart{Title: "Time per output token against network latency", X: Axis{Label: "round trip, ms"}, Y: Axis{Label: "TPOT, ms"}}
	user := Chart{Title: "Speed for one user against network latency", X: tpot.X, Y: Axis{Label: "tokens/s per user"}}
	for _, c := range a.Request.Concurrency {
		for _, name := range names(a, false) {
			t, u := Series{Name: atText(a, name, c)}, Series{Name: atText(a, name, c)}
			for _, o := range a.Outcomes {
				if variantName(a, o.Variant, false) != name || o.Variant.RTT == nil {
					continue
				}
				if p := o.At(c); p != nil && p.Fits {
					x := float64(*o.Variant.RTT) * 1e3
					t.Points = append(t.Points, XY{x, float64(p.TPOT) * 1e3})
					u.Points = append(u.Points, XY{x, p.PerUser()})
				}
			}
			tpot.Series, user.Series = append(tpot.Series, t), append(user.Series, u)
		}
	}
	t, u := Series{Name: "measured", Dots: true}, Series{Name: "measured", Dots: true}
	for _, m := range a.Request.Measured {
		t.Points = append(t.Points, XY{float64(m.RTT) * 1e3, float64(m.TPOT) * 1e3})
		u.Points = append(u.Points, XY{float64(m.RTT) * 1e3, 1 / float64(m.TPOT)})
	}
	if len(t.Points) > 0 {
		for _, c := range []*Chart{&tpot, &user} {
			for i := range c.Series {
				if c.Series[i].Name == "" {
					c.Series[i].Name = "calibrated prediction"
				}
			}
		}
		tpot.Series, user.Series = append(tpot.Series, t), append(user.Series, u)
	}
	return []Chart{tpot, user}
}

func atText(a *api.InferAnswer, name string, concurrency int) string {
	if len(a.Request.Concurrency) == 1 {
		return name
	}
	return strings.TrimPrefix(fmt.Sprintf("%s, %d in flight", name, concurrency), ", ")
}

// loadCharts draw against the requests in flight, a line per variant.
func loadCharts(a *api.InferAnswer) []Chart {
	charts := []Chart{
		{Title: "Output of the service", Y: Axis{Label: "output tokens/s"}},
		{Title: "Time per output token", Y: Axis{Label: "TPOT, ms"}},
		{Title: "Time to first token", Y: Axis{Label: "TTFT, s"}},
	}
	of := []func(*deploy.Point) float64{
		func(p *deploy.Point) float64 { return p.Output },
		func(p *deploy.Point) float64 { return float64(p.TPOT) * 1e3 },
		func(p *deploy.Point) float64 { return float64(p.TTFT) },
	}
	for i := range charts {
		charts[i].X = Axis{Label: "requests in flight", Log: true}
		for _, o := range a.Outcomes {
			s := Series{Name: variantName(a, o.Variant, true)}
			for _, p := range o.Points {
				if p.Fits {
					s.Points = append(s.Points, XY{float64(p.Concurrency), of[i](p)})
				}
			}
			charts[i].Series = append(charts[i].Series, s)
		}
	}
	// A queue makes first tokens come a thousand times later.
	if low, high := charts[2].extent(XY.y); low > 0 && high > 20*low {
		charts[2].Y.Log = true
	}
	return charts
}

// frontChart draws the Pareto front of each variant.
func frontChart(a *api.InferAnswer) Chart {
	c := Chart{Title: "Pareto front",
		X: Axis{Label: "tokens/s per user"}, Y: Axis{Label: "output tokens/s per GPU"}}
	for _, o := range a.Outcomes {
		s := Series{Name: variantName(a, o.Variant, true)}
		for _, p := range o.Front {
			s.Points = append(s.Points, XY{p.PerUser(), p.PerGPU()})
		}
		c.Series = append(c.Series, s)
	}
	return c
}
