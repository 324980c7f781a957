package report

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// Bench prints an evaluation: what went wrong first, then a row per stage, then
// each stage's distributions.
func Bench(p *Page, d *bench.Report) {
	at, began := "", d.Started
	if d.URL != "" {
		at = " at " + d.URL
	}
	if began != "" && d.Seconds > 0 {
		began += ", took " + seconds(d.Seconds)
	}
	p.Heading("bench of %s%s", d.Model, at)
	stream := "streamed"
	if !d.Stream {
		stream = "not streamed"
	}
	p.Facts([2]string{"asked", d.Load}, [2]string{"endpoint", d.Endpoint + ", " + stream}, [2]string{"prompts", d.Prompts},
		[2]string{"objective", benchSLO(d.SLO)}, [2]string{"protocol", d.Protocol}, [2]string{"worker", d.Worker}, [2]string{"labels", labelText(d.Labels)},
		[2]string{"began", began}, [2]string{"records", d.Records})
	if d.Partial {
		p.Text(0, "Interrupted: the figures are those of what was measured so far.")
	}
	benchFailures(p, d)
	benchStages(p, d)
	benchBest(p, d)
	for _, c := range BenchCharts(d) {
		if c.joined() && len(d.Stages) > 1 {
			p.Chart(&c, 12)
		}
	}
	for i := range d.Stages {
		benchStage(p, d, i)
	}
	benchWarnings(p, d)
	benchLegend(p, d)
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 1, 64) + " s" }

func benchSLO(s *bench.SLO) string {
	if s == nil {
		return ""
	}
	var parts []string
	for _, x := range []struct {
		name string
		v    float64
	}{{"ttft", s.TTFT}, {"tpot", s.TPOT}, {"itl", s.ITL}, {"e2e", s.E2E}} {
		if x.v > 0 {
			parts = append(parts, fmt.Sprintf("%s <= %.4g ms", x.name, x.v*1e3))
		}
	}
	return strings.Join(parts, ", ") + ", each request for goodput, " + s.At + " of a stage"
}

func labelText(labels map[string]string) string {
	var parts []string
	for k, v := range labels {
		parts = append(parts, k+"="+v)
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}
