package report

import (
	"fmt"
	"math"
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

// benchFailures is what ended otherwise than well, before any figure.
func benchFailures(p *Page, d *bench.Report) {
	var rows [][]string
	for i := range d.Stages {
		s := &d.Stages[i]
		for _, class := range s.Failures() {
			rows = append(rows, []string{strconv.Itoa(i + 1), class, strconv.Itoa(s.Classes[class])})
		}
	}
	if len(rows) == 0 {
		return
	}
	p.section("Requests that did not succeed")
	p.Table([]Column{Right("stage"), Left("class"), Right("requests")}, rows)
}

// benchLoad names a stage's load.
func benchLoad(s *bench.Stage) string {
	text := fmt.Sprintf("%d in flight", s.Concurrency)
	switch s.Mode {
	case bench.Open:
		text = fmt.Sprintf("%.4g/s %s", s.Rate, s.Arrival)
	case bench.Traced:
		text = "trace"
		if s.Rate > 0 {
			text = fmt.Sprintf("trace, %.4g/s", s.Rate)
		}
	}
	if s.NetDelay != "" {
		text += ", +" + s.NetDelay
	}
	return text
}

// ms prints a statistic; n/a where nothing was measured.
func ms(d bench.Dist, statistic string) string {
	v, ok := d.At(statistic)
	if !ok {
		return "n/a"
	}
	return number4(v)
}

// number4 prints a figure with four digits, or that it is not known.
func number4[T ~float64](v T) string {
	switch {
	case math.IsNaN(float64(v)):
		return "n/a"
	case v >= 1000:
		return strconv.FormatFloat(float64(v), 'f', 0, 64)
	}
	return strconv.FormatFloat(float64(v), 'g', 4, 64)
}

func benchStages(p *Page, d *bench.Report) {
	p.section("Stages: whole, after the warm-up; times in ms")
	columns := []Column{Left("load"), Right("sent"), Right("ok"), Right("bad"), Right("TTFT p50"), Right("p99"), Right("TPOT p50"), Right("p99"), Right("E2E p50"), Right("p99"), Right("tokens/s"), Right("req/s")}
	if d.SLO != nil {
		columns = append(columns, Right("good/s"))
	}
	var rows [][]string
	for i := range d.Stages {
		s := &d.Stages[i]
		row := []string{benchLoad(s), strconv.Itoa(s.Requests.Sent), strconv.Itoa(s.Requests.OK), strconv.Itoa(s.Requests.Failed + s.Requests.Truncated),
			ms(s.TTFT, "p50"), ms(s.TTFT, "p99"), ms(s.TPOT, "p50"), ms(s.TPOT, "p99"), ms(s.E2E, "p50"), ms(s.E2E, "p99"), number4(s.OutputRate), number4(s.RequestRate)}
		if d.SLO != nil {
			row = append(row, goodput(s))
		}
		rows = append(rows, row)
	}
	p.Table(columns, rows)
}

func goodput(s *bench.Stage) string {
	if s.Goodput == nil {
		return "n/a"
	}
	return number4(*s.Goodput)
}

func benchBest(p *Page, d *bench.Report) {
	if b := d.Best; b != nil {
		p.Line("")
		p.Text(0, "Highest load that meets the objective: %s (stage %d).", benchLoad(&d.Stages[b.Stage]), b.Stage+1)
	}
}

// benchStage prints one stage's distributions; of many stages the page keeps to
// the table, and --json has the rest.
func benchStage(p *Page, d *bench.Report, i int) {
	const most = 4
	if len(d.Stages) > most {
		return
	}
	s := &d.Stages[i]
	p.section("Stage %d: %s", i+1, benchLoad(s))
	var columns []Column
	for _, h := range append([]string{"ms", "n"}, bench.Statistics...) {
		columns = append(columns, Right(h))
	}
	columns[0] = Left("ms")
	var rows [][]string
	add := func(name string, x bench.Dist) {
		row := []string{name, strconv.Itoa(x.N)}
		for _, st := range bench.Statistics {
			row = append(row, ms(x, st))
		}
		rows = append(rows, row)
	}
	add("TTFT, "+string(s.Basis), s.TTFT)
	add("TTFT, "+string(s.Other.Basis), s.Other.TTFT)
	if s.TTFAT.N > 0 && s.TTFAT != s.TTFT {
		add("first answer token", s.TTFAT)
	}
	add("TTFB", s.TTFB)
	add("TPOT", s.TPOT)
	add("gap between chunks (ICL)", s.ICL)
	if s.ITL != nil {
		add("gap between tokens (ITL)", *s.ITL)
	} else {
		rows = append(rows, []string{"gap between tokens (ITL)", "0", "n/a", "n/a", "n/a", "n/a", "n/a", "n/a", "n/a"})
	}
	add("longest gap of a request", s.MaxGap)
	add("E2E, "+string(s.Basis), s.E2E)
	add("E2E, "+string(s.Other.Basis), s.Other.E2E)
	add("time per output token", s.PerToken)
	add("at the client (queue)", s.Queue)
	add("late on schedule (slip)", s.Slip)
	p.Table(columns, rows)
	p.Line("")
	p.Facts(stageFacts(s)...)
}

// wholeFact is the rates of a stage that are known.
func wholeFact(s *bench.Stage) string {
	var parts []string
	for _, x := range []struct {
		v    bench.Figure
		unit string
	}{{s.OutputRate, "output tokens/s"}, {s.InputRate, "input tokens/s"}, {s.RequestRate, "requests/s"}} {
		if x.v.Known() {
			parts = append(parts, number4(x.v)+" "+x.unit)
		}
	}
	text := strings.Join(parts, ", ")
	if text == "" {
		text = "no token rate"
	}
	if s.To > s.From {
		text += " over " + seconds(s.To-s.From)
	}
	if s.InFlight > 0 {
		text += fmt.Sprintf("; %.3g in flight on average", s.InFlight)
	}
	return text
}

func stageFacts(s *bench.Stage) (facts [][2]string) {
	add := func(name, format string, args ...any) {
		facts = append(facts, [2]string{name, fmt.Sprintf(format, args...)})
	}
	add("requests", "%d sent: %d ok, %d failed, %d truncated, %d cancelled; %d to warm up, %d never sent",
		s.Requests.Sent, s.Requests.OK, s.Requests.Failed, s.Requests.Truncated, s.Requests.Cancelled, s.Warmup, s.Unsent)
	tokens := fmt.Sprintf("%s in and %s out per request (mean)", ms(s.Input, "mean"), ms(s.Output, "mean"))
	if s.PerChunk > 0 { // no answer has less than a token per chunk: 0 is of none, and another tool may not state it
		tokens += fmt.Sprintf("; %s per chunk; the service counted %.0f %% of the answers", number4(s.PerChunk), 100*s.Counted)
	}
	add("tokens", "%s", tokens)
	add("whole", "%s", wholeFact(s))
	if w := s.Steady; w != nil {
		add("steady", "%s output tokens/s, %s requests/s over %s (%.0f %% of the stage); TTFT p50 %s, TPOT p50 %s ms",
			number4(w.OutputRate), number4(w.RequestRate), seconds(w.To-w.From), 100*w.Coverage, ms(w.TTFT, "p50"), ms(w.TPOT, "p50"))
	}
	if s.GoodShare != nil {
		add("goodput", "%.1f %% of the requests meet every objective, %s per second", 100**s.GoodShare, goodput(s))
	}
	if s.Mode != bench.Closed {
		add("rate", "%.4g requests/s asked for, %.4g achieved", s.Rate, s.Achieved)
	}
	facts = append(facts, serverFacts(s.Server)...)
	c := &s.Client
	state := "valid"
	if !c.Valid {
		state = "NOT valid: it was the bottleneck, see the warnings"
	}
	if c.CPU != nil && c.LagP99 != nil && c.GCPause != nil && c.Memory != nil {
		add("client", "%s; %.2f processors, ran %.3g ms late (p99), %.3g ms of collections, %.0f MB", state, *c.CPU, *c.LagP99, *c.GCPause, float64(*c.Memory)/1e6)
	} else {
		add("client", "n/a: not known, and so not called valid")
	}
	return facts
}

func serverFacts(m *bench.ServerMetrics) [][2]string {
	if m == nil {
		return nil
	}
	var parts []string
	add := func(v *float64, format string, scale float64) {
		if v != nil {
			parts = append(parts, fmt.Sprintf(format, *v*scale))
		}
	}
	add(m.PrefixHits, "%.1f %% of prompt tokens from the prefix cache", 100)
	add(m.Acceptance, "%.1f %% of drafted tokens accepted", 100)
	add(m.Preemptions, "%.0f preemptions", 1)
	add(m.TTFT, "its own TTFT %.4g ms", 1)
	add(m.Queue, "queue %.4g ms", 1)
	if m.Running.N > 0 {
		parts = append(parts, fmt.Sprintf("running %.3g, waiting %.3g (mean)", m.Running.Mean, m.Waiting.Mean))
	}
	if len(parts) == 0 {
		return nil
	}
	return [][2]string{{"service", "(" + m.Names + ") " + strings.Join(parts, ", ")}}
}

func benchWarnings(p *Page, d *bench.Report) {
	var rows [][]string
	for _, w := range d.Warnings {
		rows = append(rows, []string{"", w})
	}
	if d.Unwritten != "" {
		rows = append(rows, []string{"", "records: " + d.Unwritten})
	}
	for i := range d.Stages {
		s := &d.Stages[i]
		if !s.Client.Valid {
			rows = append(rows, []string{strconv.Itoa(i + 1), "client not valid: " + strings.Join(s.Client.Reasons, "; ")})
		}
		for _, w := range s.Warnings {
			rows = append(rows, []string{strconv.Itoa(i + 1), w})
		}
	}
	if len(rows) > 0 {
		p.section("Warnings")
		p.Table([]Column{Right("stage"), Left("")}, rows)
	}
}

// benchLegend defines the words once, for tools call different things alike.
func benchLegend(p *Page, d *bench.Report) {
	p.section("Words")
	for _, line := range []string{
		"service: from the last byte of the request sent; response: from when it was due, free of coordinated omission.",
		"TTFT: to the first chunk with a token of any channel, reasoning too. E2E: to the last one.",
		"TPOT: (last token - first)/(n - 1), every request alike. ITL and ICL pool all gaps: long answers weigh more.",
		"ICL is no ITL where a chunk carries several tokens. Time per output token: E2E/n, the first token included.",
		"Latencies are of successes. Rates count every token that came. Steady: at least nine tenths of the peak in flight.",
	} {
		p.Text(2, "%s", line)
	}
}
