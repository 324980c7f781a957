package report

import (
	"time"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// BenchCharts are the pictures of an evaluation: against the load of several
// stages, against the delay of the network where that varies, and over time.
func BenchCharts(d *bench.Report) []Chart {
	var list []Chart
	if len(d.Stages) > 1 {
		list = append(list, benchLoadCharts(d)...)
	}
	if len(delays(d)) > 1 {
		list = append(list, benchDelayCharts(d)...)
	}
	return list
}

// benchDelayCharts draw against the delay on the way, a line per load.
func benchDelayCharts(d *bench.Report) []Chart {
	x := Axis{Label: "delay on the way, one way, ms"}
	charts := []Chart{
		{Title: "Output against network delay", X: x, Y: Axis{Label: "output tokens/s"}},
		{Title: "Time to first token against network delay", X: x, Y: Axis{Label: "median TTFT, ms"}},
		{Title: "Time per output token against network delay", X: x, Y: Axis{Label: "median TPOT, ms"}},
	}
	at := map[string]int{} // of a load's line
	for i := range d.Stages {
		s := &d.Stages[i]
		delay, err := time.ParseDuration(s.NetDelay)
		if err != nil {
			continue // a stage without a delay
		}
		load := *s
		load.NetDelay = ""
		name := benchLoad(&load)
		k, ok := at[name]
		if !ok {
			k = len(charts[0].Series)
			at[name] = k
			for j := range charts {
				charts[j].Series = append(charts[j].Series, Series{Name: name})
			}
		}
		for j, v := range []float64{float64(s.OutputRate), s.TTFT.P50, s.TPOT.P50} {
			if j == 0 && s.OutputRate.Known() || j > 0 && []bench.Dist{s.TTFT, s.TPOT}[j-1].N > 0 {
				charts[j].Series[k].Points = append(charts[j].Series[k].Points, XY{float64(delay) / float64(time.Millisecond), v})
			}
		}
	}
	return charts
}

// stageX is where a stage lies on the axis of the load.
func stageX(s *bench.Stage) float64 {
	if s.Mode == bench.Closed {
		return float64(s.Concurrency)
	}
	return s.Rate
}

// benchLoadCharts draw a line per delay of the network; where the delay varies
// and the load does not, they draw against the delay.
func benchLoadCharts(d *bench.Report) []Chart {
	label, log := "requests in flight", true
	if d.Stages[0].Mode != bench.Closed {
		label, log = "requests/s asked for", false
	}
	charts := []Chart{
		{Title: "Output of the service", Y: Axis{Label: "output tokens/s"}},
		{Title: "Time to first token", Y: Axis{Label: "TTFT, ms"}},
		{Title: "Time per output token", Y: Axis{Label: "TPOT, ms"}},
		{Title: "Speed for one user against the service's", Y: Axis{Label: "output tokens/s"}},
	}
	statistics := []string{"p50", "p99"}
	for i := range charts {
		charts[i].X = Axis{Label: label, Log: log}
	}
	charts[3].X = Axis{Label: "tokens/s per user (1 / median TPOT)"}
	for _, delay := range delays(d) {
		suffix := ""
		if delay != "" {
			suffix = ", +" + delay
		}
		var output, users Series
		var times [2][2]Series
		output.Name, users.Name = delay, delay
		for i := range d.Stages {
			s := &d.Stages[i]
			if s.NetDelay != delay {
				continue
			}
			x := stageX(s)
			if s.OutputRate.Known() {
				output.Points = append(output.Points, XY{x, float64(s.OutputRate)})
				if s.TPOT.N > 0 {
					users.Points = append(users.Points, XY{1e3 / s.TPOT.P50, float64(s.OutputRate)})
				}
			}
			for k, m := range []bench.Dist{s.TTFT, s.TPOT} {
				for j, st := range statistics {
					if v, ok := m.At(st); ok {
						times[k][j].Name = st + suffix
						times[k][j].Points = append(times[k][j].Points, XY{x, v})
					}
				}
			}
		}
		charts[0].Series, charts[3].Series = append(charts[0].Series, output), append(charts[3].Series, users)
		charts[1].Series, charts[2].Series = append(charts[1].Series, times[0][:]...), append(charts[2].Series, times[1][:]...)
	}
	return charts
}

// delays are those of the stages, in the order they ran.
func delays(d *bench.Report) (list []string) {
	seen := map[string]bool{}
	for i := range d.Stages {
		if n := d.Stages[i].NetDelay; !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	return list
}

// BenchTimeline is what a stage did over time.
func BenchTimeline(s *bench.Stage) []Chart {
	x := Axis{Label: "s since the start"}
	flying := Chart{Title: "In flight: " + benchLoad(s), X: x, Y: Axis{Label: "requests"}, Series: []Series{{}}}
	tokens := Chart{Title: "Output over time", X: x, Y: Axis{Label: "output tokens/s"}, Series: []Series{{}}}
	first := Chart{Title: "Time to first token over time", X: x, Y: Axis{Label: "median TTFT, ms"}, Series: []Series{{}}}
	arrivals := Chart{Title: "Requests over time", X: x, Y: Axis{Label: "per second"}, Series: []Series{{Name: "sent"}, {Name: "done"}, {Name: "failed"}}}
	before := 0.0
	for i, m := range s.Timeline {
		step := m.At - before
		if i == 0 && len(s.Timeline) > 1 {
			step = s.Timeline[1].At - m.At
		}
		before = m.At
		if !(step > 0) {
			continue
		}
		flying.Series[0].Points = append(flying.Series[0].Points, XY{m.At, m.InFlight})
		tokens.Series[0].Points = append(tokens.Series[0].Points, XY{m.At, float64(m.Tokens) / step})
		if m.TTFT != nil {
			first.Series[0].Points = append(first.Series[0].Points, XY{m.At, *m.TTFT})
		}
		for k, n := range []int{m.Sent, m.Done, m.Failed} {
			arrivals.Series[k].Points = append(arrivals.Series[k].Points, XY{m.At, float64(n) / step})
		}
	}
	return []Chart{flying, tokens, first, arrivals}
}
