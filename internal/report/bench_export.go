package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// stageDists are the distributions of a stage, under their names in JSON without
// the unit.
func stageDists(s *bench.Stage) []namedDist {
	list := []namedDist{{"ttft", s.TTFT}, {"ttfb", s.TTFB}, {"ttfat", s.TTFAT}, {"tpot", s.TPOT}, {"icl", s.ICL}, {"e2e", s.E2E},
		{"max_gap", s.MaxGap}, {"queue", s.Queue}, {"slip", s.Slip}}
	if s.ITL != nil {
		list = append(list, namedDist{"itl", *s.ITL})
	}
	return list
}

type namedDist struct {
	name string
	bench.Dist
}

// BenchCSV writes a row per stage. What was not measured is an empty cell.
func BenchCSV(w io.Writer, d *bench.Report) error {
	c := csv.NewWriter(w)
	head := []string{"url", "model", "stage", "mode", "concurrency", "rate", "net_delay", "sent", "ok", "failed", "truncated", "cancelled",
		"seconds", "output_tokens_per_second", "requests_per_second", "goodput", "client_valid"}
	names := []string{"ttft", "ttfb", "ttfat", "tpot", "icl", "itl", "e2e", "max_gap", "queue", "slip"}
	for _, n := range names {
		head = append(head, n+"_n")
		for _, st := range bench.Statistics {
			head = append(head, n+"_"+st+"_ms")
		}
	}
	if err := c.Write(head); err != nil {
		return err
	}
	exact := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	rate := func(v bench.Figure) string { // an empty cell where nobody stated it
		if !v.Known() {
			return ""
		}
		return exact(float64(v))
	}
	for i := range d.Stages {
		s := &d.Stages[i]
		good := ""
		if s.Goodput != nil {
			good = exact(*s.Goodput)
		}
		row := []string{d.URL, d.Model, strconv.Itoa(i), string(s.Mode), strconv.Itoa(s.Concurrency), exact(s.Rate), s.NetDelay,
			strconv.Itoa(s.Requests.Sent), strconv.Itoa(s.Requests.OK), strconv.Itoa(s.Requests.Failed), strconv.Itoa(s.Requests.Truncated), strconv.Itoa(s.Requests.Cancelled),
			exact(s.To - s.From), rate(s.OutputRate), rate(s.RequestRate), good, strconv.FormatBool(s.Client.Valid)}
		by := map[string]bench.Dist{}
		for _, n := range stageDists(s) {
			by[n.name] = n.Dist
		}
		for _, n := range names {
			row = append(row, strconv.Itoa(by[n].N))
			for _, st := range bench.Statistics {
				cell := ""
				if v, ok := by[n].At(st); ok {
					cell = exact(v)
				}
				row = append(row, cell)
			}
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// BenchPrometheus writes the figures in Prometheus' text format, for a node
// exporter's textfile collector; times in seconds, as is the custom there.
func BenchPrometheus(w io.Writer, d *bench.Report) error {
	registry := prometheus.NewRegistry()
	labels := []string{"model", "stage", "mode", "level"}
	gauge := func(name, help string, more ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "ridgeline_bench", Name: name, Help: help}, append(labels[:len(labels):len(labels)], more...))
		registry.MustRegister(g)
		return g
	}
	requests := gauge("requests", "Requests of the stage by outcome.", "outcome")
	times := gauge("latency_seconds", "Latencies of successes, by metric and statistic.", "metric", "statistic")
	tokens := gauge("output_tokens_per_second", "Output tokens per second of the stage.")
	good := gauge("goodput_requests_per_second", "Requests per second that meet every objective.")
	valid := gauge("client_valid", "1 unless the client was the bottleneck, or is not known.")
	for i := range d.Stages {
		s := &d.Stages[i]
		of := []string{d.Model, strconv.Itoa(i), string(s.Mode), strconv.FormatFloat(stageX(s), 'g', -1, 64)}
		with := func(g *prometheus.GaugeVec, v float64, more ...string) {
			g.WithLabelValues(append(of[:len(of):len(of)], more...)...).Set(v)
		}
		for name, n := range map[string]int{"ok": s.Requests.OK, "failed": s.Requests.Failed, "truncated": s.Requests.Truncated, "cancelled": s.Requests.Cancelled} {
			with(requests, float64(n), name)
		}
		for _, n := range stageDists(s) {
			for _, st := range bench.Statistics {
				if v, ok := n.At(st); ok {
					with(times, v/1e3, n.name, st)
				}
			}
		}
		if s.OutputRate.Known() {
			with(tokens, float64(s.OutputRate))
		}
		if s.Goodput != nil {
			with(good, *s.Goodput)
		}
		v := 0.0
		if s.Client.Valid {
			v = 1
		}
		with(valid, v)
	}
	families, err := registry.Gather()
	if err != nil {
		return err
	}
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(w, f); err != nil {
			return err
		}
	}
	return nil
}

// BenchHTML writes one page with the charts of an evaluation and its text.
func BenchHTML(w io.Writer, d *bench.Report) error {
	charts := BenchCharts(d)
	const most = 6 // stages whose time line is drawn
	for i := range d.Stages {
		if i < most {
			charts = append(charts, BenchTimeline(&d.Stages[i])...)
		}
	}
	var picture, text bytes.Buffer
	shown := false
	for i := range charts {
		shown = shown || !charts[i].empty()
	}
	if shown {
		if err := SVG(&picture, "", charts); err != nil {
			return err
		}
	}
	p := NewPage(&text)
	Bench(p, d)
	if err := p.Flush(); err != nil {
		return err
	}
	return writeHTML(w, fmt.Sprintf("Evaluation of %s", d.Model), d.Load+" at "+d.URL, picture.Bytes(), text.String())
}
