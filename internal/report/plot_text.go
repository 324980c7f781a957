package report

import (
	"math"
	"strings"
	"unicode/utf8"
)

// seriesMarks tell the series of a text chart apart.
var seriesMarks = []rune("●○▲△■□◆◇")

// Chart draws c in rows lines of text: points as marks, joined by dots, the axes
// with their values at the left and below. Charts without points print nothing.
func (p *Page) Chart(c *Chart, rows int) {
	if c.empty() {
		return
	}
	p.section("%s", c.Title)
	d := newDrawing(c, p.Width, rows)
	for i := range c.Series {
		d.join(&c.Series[i])
	}
	for i := range c.Series {
		d.mark(&c.Series[i], seriesMarks[i%len(seriesMarks)])
	}
	p.Line("%s", c.Y.Label)
	for i, line := range d.cells {
		p.Line("%s", strings.TrimRight(pad(d.labels[i], d.left, true)+" ┤"+string(line), " "))
	}
	p.Line("%s └%s", strings.Repeat(" ", d.left), strings.Repeat("─", d.width))
	p.Line("%s", d.below(c))
	p.legend(c, d.left)
}

// legend names the marks, when there is more than one series.
func (p *Page) legend(c *Chart, left int) {
	var names []string
	for i, s := range c.Series {
		if s.Name != "" {
			names = append(names, string(seriesMarks[i%len(seriesMarks)])+" "+s.Name)
		}
	}
	if len(names) > 0 {
		p.indented(left+2, strings.Join(names, " "))
	}
}

// drawing is a chart's area in characters; row 0 is the top.
type drawing struct {
	chart       *Chart
	cells       [][]rune
	labels      []string // of each row
	left, width int      // columns of the labels and of the area
	x0, x1      float64
	y0, y1      float64
}

func newDrawing(c *Chart, width, rows int) *drawing {
	d := &drawing{chart: c, labels: make([]string, rows)}
	d.x0, d.x1 = c.span(&c.X, XY.x)
	d.y0, d.y1 = c.span(&c.Y, XY.y)
	for _, v := range c.Y.marks(d.y0, d.y1, rows/2) {
		row := d.row(v, rows)
		d.labels[row] = markText(v)
		d.left = max(d.left, utf8.RuneCountInString(d.labels[row]))
	}
	d.width = max(width-d.left-2, minLast)
	for range rows {
		d.cells = append(d.cells, []rune(strings.Repeat(" ", d.width)))
	}
	return d
}

func (d *drawing) row(y float64, rows int) int {
	return rows - 1 - int(math.Round(d.chart.Y.place(y, d.y0, d.y1)*float64(rows-1)))
}

func (d *drawing) column(x float64) int {
	return int(math.Round(d.chart.X.place(x, d.x0, d.x1) * float64(d.width-1)))
}

// join draws dots between neighbouring points.
func (d *drawing) join(s *Series) {
	if s.Dots {
		return
	}
	for i := 1; i < len(s.Points); i++ {
		a, b := s.Points[i-1], s.Points[i]
		if !d.chart.shown(a) || !d.chart.shown(b) {
			continue
		}
		c0, r0, c1, r1 := d.column(a.X), d.row(a.Y, len(d.cells)), d.column(b.X), d.row(b.Y, len(d.cells))
		n := max(abs(c1-c0), abs(r1-r0))
		for k := 1; k < n; k++ {
			share := float64(k) / float64(n)
			row, col := r0+int(math.Round(share*float64(r1-r0))), c0+int(math.Round(share*float64(c1-c0)))
			d.cells[row][col] = '·'
		}
	}
}

// mark draws the points over what lies there already.
func (d *drawing) mark(s *Series, r rune) {
	for _, p := range s.Points {
		if d.chart.shown(p) {
			d.cells[d.row(p.Y, len(d.cells))][d.column(p.X)] = r
		}
	}
}

// below is the line under the area: values of the x axis, then its label where
// there is room for it at the right.
func (d *drawing) below(c *Chart) string {
	line := []rune(strings.Repeat(" ", d.left+2+d.width))
	free := 0 // columns that are taken end here
	put := func(text string, at int) bool {
		r := []rune(text)
		at = min(max(at, 0), len(line)-len(r))
		if at < free {
			return false
		}
		copy(line[at:], r)
		free = at + len(r) + 1
		return true
	}
	label := []rune(c.X.Label)
	room := len(line) - len(label)
	for _, v := range c.X.marks(d.x0, d.x1, 10) {
		text := markText(v)
		if at := d.left + 2 + d.column(v) - len(text)/2; at+len(text) < room {
			put(text, at)
		}
	}
	put(string(label), room)
	return strings.TrimRight(string(line), " ")
}
