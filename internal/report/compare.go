package report

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/compare"
	"github.com/ridgeline/ridgeline/internal/store"
)

// ComparisonDoc is two measurements side by side.
type ComparisonDoc struct {
	A RunDoc `json:"a"`
	B RunDoc `json:"b"`
	compare.Comparison
}

// NewComparisonDoc is that for programs.
func NewComparisonDoc(a, b *store.Run, c *compare.Comparison) *ComparisonDoc {
	return &ComparisonDoc{runDoc(a), runDoc(b), *c}
}

// GapDoc is a prediction beside a measurement.
type GapDoc struct {
	Predicted RunDoc `json:"prediction"`
	Measured  RunDoc `json:"measurement"`
	compare.Gap
}

// NewGapDoc is that for programs.
func NewGapDoc(predicted, measured *store.Run, g *compare.Gap) *GapDoc {
	return &GapDoc{runDoc(predicted), runDoc(measured), *g}
}

// title names a run in a heading.
func title(r *store.Run) string {
	if r.Name != "" {
		return fmt.Sprintf("%s (run %d)", r.Name, r.ID)
	}
	return fmt.Sprintf("run %d", r.ID)
}

// Comparison shows two measurements for people.
func Comparison(p *Page, a, b *store.Run, c *compare.Comparison) {
	p.Heading("A: %s of %s; B: %s of %s", title(a), a.Model, title(b), b.Model)
	methods, few := map[string]bool{}, false
	for _, pair := range c.Pairs {
		p.section("%s", pair.Load)
		var rows [][]string
		for _, r := range pair.Rows {
			verdict := ""
			if r.Differs != nil {
				verdict = map[bool]string{true: "differs", false: "not told apart"}[*r.Differs]
			}
			interval := ""
			switch {
			case r.Low != nil:
				interval = fmt.Sprintf("%+.1f..%+.1f %%", 100**r.Low, 100**r.High)
				methods[r.Method] = true
			case r.Few:
				interval, few = "too few", true
			}
			rows = append(rows, []string{r.Metric + " " + r.Statistic, stated(r.A), stated(r.B), r.Unit, percentOr(r.Change), interval, verdict})
		}
		p.Table([]Column{Left(""), Right("A"), Right("B"), Left(""), Right("change"), Right("95 % interval"), Left("")}, rows)
	}
	p.unpaired(c.Unpaired)
	p.Line("")
	for _, n := range c.Notes {
		p.Text(2, "- %s", n)
	}
	if methods["bootstrap"] {
		p.Text(0, "Intervals are a bootstrap over requests.")
	}
	if few {
		p.Text(0, "Too few: the 95 %% interval of p90 takes %d requests on each side, of p99 %d.", compare.Least("p90"), compare.Least("p99"))
	}
	if methods["welch"] {
		p.Text(0, "Intervals of means are Welch's, from mean, deviation and number of requests.")
	}
	p.Text(0, "They take requests as independent and say nothing of what differs from run to run.")
}

func (p *Page) unpaired(list []string) {
	if len(list) > 0 {
		p.Line("")
		p.Text(2, "Without a counterpart: %s.", strings.Join(list, "; "))
	}
}

func stated(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return number4(*v)
}

func percentOr(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return fmt.Sprintf("%+.1f %%", 100**v)
}

// Gap shows a prediction beside a measurement for people.
func Gap(p *Page, predicted, measured *store.Run, g *compare.Gap) {
	p.Heading("%s against %s, means", title(predicted), title(measured))
	for _, pair := range g.Pairs {
		p.section("%s", pair.Load)
		var rows [][]string
		for _, r := range pair.Rows {
			interval := ""
			if r.Low != nil {
				interval = fmt.Sprintf("%s..%s", number4(*r.Low), number4(*r.High))
			}
			rows = append(rows, []string{r.Metric, number4(r.Predicted), number4(r.Measured), interval, r.Unit, fmt.Sprintf("%+.1f %%", 100*r.Error)})
		}
		p.Table([]Column{Left(""), Right("predicted"), Right("measured"), Right("95 % interval"), Left(""), Right("error")}, rows)
		for _, r := range pair.Rows {
			if len(r.Parts) == 0 {
				continue
			}
			p.Line("")
			p.Text(0, "Measured less predicted %s, %+.4g %s, by part:", r.Metric, r.Measured-r.Predicted, r.Unit)
			for _, part := range r.Parts {
				p.indented(2, fmt.Sprintf("%+.4g %s %s", part.Value, r.Unit, part.Name))
			}
		}
	}
	p.unpaired(g.Unpaired)
}
