package report

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"slices"

	"github.com/ridgeline/ridgeline/internal/validate"
)

// ValidationHTML writes one page with plots of predicted against measured values,
// logarithmic, and the text of a validation; command is the line that made it.
func ValidationHTML(w io.Writer, command string, d *validate.Document, draw func(*Page, *validate.Document)) error {
	var picture, text bytes.Buffer
	if charts := validationCharts(d); len(charts) > 0 { // else the page is of what was left out
		if err := SVG(&picture, "", charts); err != nil {
			return err
		}
	}
	p := NewPage(&text)
	draw(p, d)
	if err := p.Flush(); err != nil {
		return err
	}
	return writeHTML(w, "Predicted against measured", command, picture.Bytes(), text.String())
}

// mostNames is how many names a plot tells apart; further ones share the last.
const mostNames = 7

// cut is what a plot colours its points by.
type cut struct {
	name string
	of   func(*validate.Scored) string
}

// scoredQuantity is a figure of rows, with its values measured and predicted; nil where a
// row has none.
type scoredQuantity struct {
	title, axis string
	values      func(*validate.Scored) (measured, predicted *float64)
}

// validationCharts are a plot per figure and cut that has more than one name.
func validationCharts(d *validate.Document) []Chart {
	rows, last := d.Predictions, "model"
	if len(rows) == 0 {
		rows, last = d.Sample, "kind" // whose Model it is
	}
	main := scoredQuantity{"Latency", "ms", func(s *validate.Scored) (*float64, *float64) { return &s.Measured, &s.Predicted }}
	switch {
	case d.Metrics[validate.MetricThroughput].N > 0:
		main.title, main.axis = "Throughput", "tokens/s per GPU"
	case d.Metrics[validate.MetricTPOT].N > 0:
		main.title, main.axis = "Time per output token", "TPOT, ms"
	}
	figures := []scoredQuantity{main,
		{"Time to first token", "TTFT, ms", func(s *validate.Scored) (*float64, *float64) { return s.TTFTMeasured, s.TTFTPredicted }},
		{"Memory", "memory, GB or GiB as its source counts", func(s *validate.Scored) (*float64, *float64) { return s.MemoryMeasured, s.MemoryPredicted }}}
	cuts := []cut{{"GPU", func(s *validate.Scored) string { return s.GPU }}, {"engine", func(s *validate.Scored) string { return s.Engine }},
		{last, func(s *validate.Scored) string { return s.Model }}}
	var list []Chart
	for _, f := range figures {
		drawn := false
		for i, c := range cuts {
			chart, names := f.chart(rows, c)
			if len(d.Predictions) > 0 { // rows of kernel tables have no short names
				chart.Notes = f.farthest(rows)
			}
			if names > 1 || names == 1 && !drawn && i == len(cuts)-1 {
				list, drawn = append(list, chart), true
			}
		}
	}
	return list
}

// noted is how many points of a plot bear their row's id.
const noted = 3

// farthest are the ids of the rows that are farthest off by their ratio.
func (f *scoredQuantity) farthest(rows []validate.Scored) []Note {
	type far struct {
		off  float64
		note Note
	}
	var all []far
	for i := range rows {
		m, p := f.values(&rows[i])
		if m != nil && p != nil && *m > 0 && *p > 0 {
			all = append(all, far{math.Abs(math.Log(*p / *m)), Note{XY{*m, *p}, rows[i].ID}})
		}
	}
	slices.SortStableFunc(all, func(a, b far) int { return cmp.Compare(b.off, a.off) })
	var list []Note
	for _, x := range all {
		crowded := slices.ContainsFunc(list, func(n Note) bool {
			return math.Abs(math.Log(n.At.X/x.note.At.X)) < near && math.Abs(math.Log(n.At.Y/x.note.At.Y)) < near
		})
		if len(list) < noted && !crowded {
			list = append(list, x.note)
		}
	}
	return list
}

// near is a distance, of the logarithms of both axes, at which two names would cover each other.
const near = 0.3

// chart draws rows by a cut and says how many names it has.
func (f *scoredQuantity) chart(rows []validate.Scored, c cut) (Chart, int) {
	chart := Chart{Title: f.title + " by " + c.name, X: Axis{"measured " + f.axis, true, true}, Y: Axis{"predicted " + f.axis, true, true}}
	points := map[string][]XY{}
	var names []string
	for i := range rows {
		m, p := f.values(&rows[i])
		if m == nil || p == nil {
			continue
		}
		name := c.of(&rows[i])
		if points[name] == nil {
			names = append(names, name)
		}
		points[name] = append(points[name], XY{*m, *p})
	}
	if len(names) == 0 {
		return chart, 0
	}
	slices.SortStableFunc(names, func(a, b string) int { return len(points[b]) - len(points[a]) })
	for i, name := range names {
		if i >= mostNames {
			last := &chart.Series[mostNames-1]
			last.Name, last.Points = "others", append(last.Points, points[name]...)
			continue
		}
		chart.Series = append(chart.Series, Series{Name: name, Points: points[name], Dots: true})
	}
	low, high := chart.extent(XY.x)
	chart.Series = append(chart.Series, Series{Name: "equal", Points: []XY{{low, low}, {high, high}}, Reference: true})
	return chart, len(names)
}
