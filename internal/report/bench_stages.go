package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// benchLoad names a stage's load.
func benchLoad(s *bench.Stage) string {
	text := fmt.Sprintf("%d in flight", s.Concurrency)
	switch s.Mode {
	case bench.Open:
		text = fmt.Sprintf("%.4g/s %s", s.Rate, s.Arrival)
	case bench.Unstated:
		text = "load not stated"
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
		more := ""
		if d.ClientLimited() {
			more = " The service may do more: the client was not valid where it was missed."
		}
		p.Text(0, "Highest load that meets the objective: %s (stage %d).%s", benchLoad(&d.Stages[b.Stage]), b.Stage+1, more)
	}
}
