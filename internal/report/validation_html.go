package report

import (
	"bytes"
	"io"
	"slices"

	"github.com/ridgeline/ridgeline/internal/validate"
)

// ValidationHTML writes one page with plots of predicted against measured values,
// logarithmic, and the text of a validation; command is the line that made it.
func ValidationHTML(w io.Writer, command string, d *validate.Document, draw func(*Page, *validate.Document)) error {
	var picture, text bytes.Buffer
	if err := SVG(&picture, "", validationCharts(d)); err != nil {
		return err
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
	rows := d.Predictions
	if len(rows) == 0 {
		rows = d.Sample
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
		{"Memory", "GB as the run counts", func(s *validate.Scored) (*float64, *float64) { return s.MemoryMeasured, s.MemoryPredicted }}}
	cuts := []cut{{"GPU", func(s *validate.Scored) string { return s.GPU }}, {"engine", func(s *validate.Scored) string { return s.Engine }},
		{"model", func(s *validate.Scored) string { return s.Model }}}
	var list []Chart
	for _, f := range figures {
		drawn := false
		for i, c := range cuts {
			chart, names := f.chart(rows, c)
			if names > 1 || names == 1 && !drawn && i == len(cuts)-1 {
				list, drawn = append(list, chart), true
			}
		}
	}
	return list
}

// chart draws rows by a cut and says how many names it has.
func (f *scoredQuantity) chart(rows []validate.Scored, c cut) (Chart, int) {
	chart := Chart{Title: f.title + " by " + c.name, X: Axis{Label: "measured " + f.axis, Log: true}, Y: Axis{Label: "predicted " + f.axis, Log: true}}
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
	chart.Series = append(chart.Series, Series{Name: "equal", Points: []XY{{low, low}, {high, high}}})
	return chart, len(names)
}
