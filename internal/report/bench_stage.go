package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/bench"
)

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
	unsent := "how many were never sent is not known"
	if s.Unsent != nil {
		unsent = fmt.Sprintf("%d never sent", *s.Unsent)
	}
	add("requests", "%d sent: %d ok, %d failed, %d truncated, %d cancelled; %d to warm up, %s",
		s.Requests.Sent, s.Requests.OK, s.Requests.Failed, s.Requests.Truncated, s.Requests.Cancelled, s.Warmup, unsent)
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
		times := ""
		if c.StampLagP99 != nil {
			times = fmt.Sprintf(" and took times %.3g ms late", *c.StampLagP99)
		}
		add("client", "%s; %.2f processors, ran %.3g ms late%s (p99), %.3g ms of collections, %.0f MB", state, *c.CPU, *c.LagP99, times, *c.GCPause, float64(*c.Memory)/1e6)
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
