package report

import (
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/bench"
)

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
