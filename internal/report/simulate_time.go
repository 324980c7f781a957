package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// buckets is the rows of a histogram.
const buckets = 10

// simulateHistogram draws how long requests waited for their first token, in
// buckets that double or finer.
func simulateHistogram(p *Page, a *api.SimulateAnswer) {
	m := a.Result.Mean()
	var times []float64
	for i := range a.Result.Records {
		r := &a.Result.Records[i]
		if t, ok := r.TTFT(); ok && r.Queued >= m.From && r.Queued <= m.To {
			times = append(times, t.Seconds())
		}
	}
	if a.TailsHeld() != "" || len(times) < 2*buckets {
		return
	}
	low, high := slices.Min(times), slices.Max(times)
	if low <= 0 || high < low*1.01 {
		return
	}
	counts := make([]int, buckets)
	ratio := math.Pow(high/low, 1./buckets)
	for _, t := range times {
		counts[min(int(math.Log(t/low)/math.Log(ratio)), buckets-1)]++
	}
	p.section("Time to first token, requests in each range")
	rows := make([][]string, buckets)
	most := float64(slices.Max(counts))
	for i, n := range counts {
		from, to := low*math.Pow(ratio, float64(i)), low*math.Pow(ratio, float64(i+1))
		rows[i] = []string{unit.FormatStep(unit.Seconds(from)), unit.FormatStep(unit.Seconds(to)), Grouped(int64(n)), Bar(float64(n)/most, p.Width/2)}
	}
	p.Table([]Column{Right("from"), Right("to"), Right("requests"), Left("")}, rows)
}

// simulateTimeline draws the run over time, a line for each level.
func simulateTimeline(p *Page, a *api.SimulateAnswer) {
	t := a.Result.Timeline
	if len(t) < 4 {
		return
	}
	p.section("Over %s", unit.FormatStep(unit.Seconds(a.Result.End.Seconds())))
	lines := []struct {
		name   string
		of     func(m *serve.Moment) float64
		format func(float64) string
	}{
		{"running", func(m *serve.Moment) float64 { return m.Running }, shortFloat},
		{"waiting", func(m *serve.Moment) float64 { return m.Waiting }, shortFloat},
		{"kv cache", func(m *serve.Moment) float64 { return m.KV }, unit.FormatPercent},
		{"tokens/s", func(m *serve.Moment) float64 { return m.Output }, shortFloat},
	}
	values := make([][]float64, len(lines))
	most := make([]float64, len(lines))
	text := make([]string, len(lines))
	name, room := 0, 0
	for i, l := range lines {
		for k := range t {
			values[i] = append(values[i], l.of(&t[k]))
		}
		most[i] = slices.Max(values[i])
		text[i] = "up to " + l.format(most[i])
		name, room = max(name, utf8.RuneCountInString(l.name)), max(room, utf8.RuneCountInString(text[i]))
	}
	for i, l := range lines {
		line := pad(l.name, name, false) + gap + pad(text[i], room, false) + gap + Spark(values[i], most[i], p.Width-name-room-2*len(gap))
		p.Line("%s", strings.TrimRight(line, " "))
	}
}

func simulateNotes(p *Page, a *api.SimulateAnswer) {
	if len(a.Warnings) == 0 {
		return
	}
	p.section("Notes")
	for i, w := range a.Warnings.Texts() {
		p.Text(3, "%s. %s", strconv.Itoa(i+1), w)
	}
}
