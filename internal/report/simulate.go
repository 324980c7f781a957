package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Simulate draws the answer of `simulate`: the question, the verdict, the
// distributions, what the service was busy with, and the run over time.
func Simulate(p *Page, a *api.SimulateAnswer) {
	for _, draw := range []func(*Page, *api.SimulateAnswer){simulateHeader, simulateVerdict, simulateTimes, simulateLoad, simulateHistogram, simulateTimeline, simulateNotes} {
		draw(p, a)
	}
}

func simulateHeader(p *Page, a *api.SimulateAnswer) {
	r := a.Request
	e, _ := a.Service.Generating()
	p.Heading("%s on %s: %s", r.Service.Model.Name, a.Variant.Cluster.Name, a.Layout.String())
	p.Facts([2]string{"service", serviceText(a)},
		[2]string{"scheduler", fmt.Sprintf("at most %s sequences and %s tokens in a step of a replica; %s KV blocks of %d tokens",
			Grouped(int64(e.MaxSeqs)), Grouped(int64(e.MaxTokens)), Grouped(int64(e.Blocks)), e.BlockSize)},
		[2]string{"load", loadText(a)},
		[2]string{"engine", fmt.Sprintf("%s overheads, %s: %s", a.Profile.Name(), a.Profile.Grade, a.Profile.Source)},
		[2]string{"simulated", fmt.Sprintf("%s of service in %s", unit.FormatStep(unit.Seconds(a.Result.End.Seconds())), unit.FormatSeconds(unit.Seconds(a.Elapsed.Seconds())))})
}

func serviceText(a *api.SimulateAnswer) string {
	s := a.Service
	text := Plural(int64(s.Instances), "instance")
	if s.Decode != nil {
		text = fmt.Sprintf("%d to read prompts, %d to generate", s.Instances, s.DecodeInstances)
	}
	e, _ := s.Generating()
	if n := e.Ranks; n > 1 {
		text += fmt.Sprintf(" of %d replicas", n)
	}
	text += fmt.Sprintf(", %s; room for %s tokens of KV cache", Plural(int64(a.Layout.GPUs()), "GPU"), Grouped(a.KVTokens))
	if spec := e.Speculation; spec != nil {
		text += fmt.Sprintf("; speculation %s, %.2f tokens per step", spec, spec.Tokens())
	}
	return text
}

func loadText(a *api.SimulateAnswer) string {
	l := a.Request.Load
	n := Grouped(int64(len(l.Requests))) + " requests of " + l.Name
	switch {
	case l.Concurrency > 0:
		n += ", " + Plural(int64(l.Concurrency), "user") + " in a closed loop"
		if l.Ramp > 0 {
			n += " who came over " + unit.FormatStep(unit.Seconds(l.Ramp.Seconds()))
		}
		return n
	case l.Span() == 0:
		return n + ", all at once"
	}
	law := "as the trace spaces them"
	switch {
	case l.Rate > 0 && l.Variation == 0:
		law = "evenly spaced"
	case l.Rate > 0:
		law = fmt.Sprintf("in gaps that vary by %g of their mean", l.Variation)
	}
	return fmt.Sprintf("%s, %s per second, %s", n, shortFloat(a.Offered()), law)
}

// simulateVerdict says whether the load is carried, and where it would not be.
func simulateVerdict(p *Page, a *api.SimulateAnswer) {
	p.Line("")
	if a.Result.Partial {
		p.Text(0, "Interrupted after %s: what follows is what was simulated until then.", unit.FormatStep(unit.Seconds(a.Result.End.Seconds())))
	}
	if held := a.TailsHeld(); held != "" {
		p.Text(0, "Tails are not stated: %s.", held)
	}
	if c := a.Capacity; c != nil {
		text := fmt.Sprintf("Queueing takes over beyond %s in flight: %s answers and %s tokens per second at most, then with %s generating.", Plural(int64(c.Clients+0.5), "request"), shortFloat(c.Requests), Grouped(int64(c.Output+0.5)), Grouped(int64(c.Concurrency+0.5)))
		switch share := a.Share(); {
		case share > 0:
			text += fmt.Sprintf(" This load is %s of it.", unit.FormatPercent(share))
		case a.Request.Load.Concurrency > 0:
			text += fmt.Sprintf(" This loop holds %d.", a.Request.Load.Concurrency)
		}
		p.Text(0, "%s", text)
	}
	if c := a.Calibration; c != nil {
		p.Text(0, "%s", calibratedText(c))
	}
	if s := a.Request.SLO; s.Asked() {
		m := a.Result.Mean()
		verdict := "kept"
		if a.Missed != "" {
			verdict = "missed: " + a.Missed
		}
		where := "over the whole run"
		if m == a.Result.Steady {
			where = "in the steady stretch"
		}
		p.Text(0, "The objective %s %s is %s; %s of the answers keep it, %s per second.", sloText(s, a.Request.At), where, verdict, unit.FormatPercent(m.GoodShare), shortFloat(m.Goodput))
		if w := &a.Result.Whole; a.Result.AtOnce && m != w && w.TTFT.N > 0 {
			p.Text(0, "With the burst of users who all came at once the first token takes %s on average.", unit.FormatSeconds(unit.Seconds(w.TTFT.Mean)))
		}
	}
}

func sloText(s serve.SLO, at serve.Statistic) string {
	var parts []string
	if s.TTFT > 0 {
		parts = append(parts, fmt.Sprintf("%s ttft up to %s", at, unit.FormatSeconds(unit.Seconds(s.TTFT.Seconds()))))
	}
	if s.TPOT > 0 {
		parts = append(parts, fmt.Sprintf("%s tpot up to %s", at, unit.FormatSeconds(unit.Seconds(s.TPOT.Seconds()))))
	}
	return strings.Join(parts, " and ")
}

// simulateTimes is the table of distributions.
func simulateTimes(p *Page, a *api.SimulateAnswer) {
	m := a.Result.Mean()
	where := fmt.Sprintf("whole run, start-up and drain included, %s", requestCount(m))
	if a.Result.Steady != nil {
		where = fmt.Sprintf("steady stretch from %s to %s, %s", unit.FormatStep(unit.Seconds(m.From.Seconds())), unit.FormatStep(unit.Seconds(m.To.Seconds())), requestCount(m))
	}
	p.section("Times (%s)", where)
	held := a.TailsHeld() != ""
	var rows [][]string
	for _, x := range []struct {
		name  string
		d     *serve.Dist
		waits bool // it holds waiting
	}{{"ttft", &m.TTFT, true}, {"tpot", &m.TPOT, false}, {"itl", &m.ITL, false}, {"e2e", &m.E2E, true}, {"queueing", &m.Queueing, true}} {
		if x.d.N == 0 {
			continue
		}
		row := []string{x.name}
		for i, v := range []float64{x.d.Mean, x.d.P50, x.d.P90, x.d.P95, x.d.P99, x.d.Max} {
			if held && x.waits && i > 1 {
				row = append(row, "")
				continue
			}
			row = append(row, unit.FormatStep(unit.Seconds(v)))
		}
		rows = append(rows, row)
	}
	p.Table([]Column{Left(""), Right("mean"), Right("p50"), Right("p90"), Right("p95"), Right("p99"), Right("max")}, rows)
	if entry := a.Service.Engine.Entry; entry > 0 && m.Queueing.N > 0 {
		p.Text(0, "Queueing holds the %s that this engine takes on average to let a request in, queue or not.", unit.FormatStep(unit.Seconds(entry.Seconds())))
	}
}

func requestCount(m *serve.Summary) string { return Grouped(int64(m.Requests)) + " requests" }

// shortFloat prints a rate with three significant digits.
func shortFloat(v float64) string {
	switch {
	case v >= 1000:
		return Grouped(int64(v + 0.5))
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
