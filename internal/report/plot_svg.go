package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of one chart, and how many stand side by side.
const (
	chartWidth    = 15 * vg.Centimeter
	chartHeight   = 10 * vg.Centimeter
	chartsAbreast = 2
	legendLine    = 4.2 * vg.Millimeter
	legendRoom    = 4 // lines of a legend that chartHeight has room for
)

// seriesColors are the eight of Okabe and Ito (2008), which readers with any
// colour vision tell apart; yellow and black, hard to see as thin lines beside
// the axes, come last.
var seriesColors = []color.Color{
	color.RGBA{R: 0, G: 114, B: 178, A: 255}, color.RGBA{R: 213, G: 94, B: 0, A: 255}, color.RGBA{R: 0, G: 158, B: 115, A: 255},
	color.RGBA{R: 204, G: 121, B: 167, A: 255}, color.RGBA{R: 86, G: 180, B: 233, A: 255}, color.RGBA{R: 230, G: 159, B: 0, A: 255},
	color.RGBA{R: 0, G: 0, B: 0, A: 255}, color.RGBA{R: 240, G: 228, B: 66, A: 255},
}

// SVG writes charts as one picture, two abreast under a title, "" = none. Charts
// without points are left out; a picture without any chart is an error.
func SVG(w io.Writer, title string, charts []Chart) error {
	var plots []*plot.Plot
	for i := range charts {
		if charts[i].empty() {
			continue
		}
		p, err := newPlot(&charts[i])
		if err != nil {
			return err
		}
		plots = append(plots, p)
	}
	if len(plots) == 0 {
		return fmt.Errorf("nothing to plot: no point fits")
	}
	abreast := min(chartsAbreast, len(plots))
	down := (len(plots) + abreast - 1) / abreast
	strip := vg.Length(0)
	if title != "" {
		strip = 8 * vg.Millimeter
	}
	lines := 0
	for i := range charts {
		lines = max(lines, len(charts[i].Series))
	}
	width, height := vg.Length(abreast)*chartWidth, vg.Length(down)*(chartHeight+legendLine*vg.Length(max(0, lines-legendRoom)))
	canvas := vgsvg.New(width, height+strip)
	tiles := draw.Tiles{Rows: down, Cols: abreast, PadX: 4 * vg.Millimeter, PadY: 6 * vg.Millimeter,
		PadTop: 3 * vg.Millimeter, PadBottom: 3 * vg.Millimeter, PadLeft: 3 * vg.Millimeter, PadRight: 5 * vg.Millimeter}
	dc := draw.New(canvas)
	if title != "" {
		style := plots[0].Title.TextStyle
		style.XAlign, style.YAlign = text.XCenter, text.YTop
		dc.FillText(style, vg.Point{X: width / 2, Y: height + strip - 2*vg.Millimeter}, title)
		dc = draw.Crop(dc, 0, 0, 0, -strip)
	}
	for i, p := range plots {
		p.Draw(tiles.At(dc, i%abreast, i/abreast))
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	// The library names the font whose widths it used; readers may lack it.
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")))
	return err
}

func newPlot(c *Chart) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X.Label, c.Y.Label
	for _, style := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font} {
		style.Variant = "Sans"
	}
	p.Title.TextStyle.Font.Weight = 2 // bold
	p.Title.Padding, p.Legend.ThumbnailWidth = 2*vg.Millimeter, 7*vg.Millimeter
	p.Add(plotter.NewGrid())
	for i := range c.Series {
		if err := addSeries(p, c, i); err != nil {
			return nil, err
		}
	}
	if err := addNotes(p, c); err != nil {
		return nil, err
	}
	p.X.Min, p.X.Max = c.span(&c.X, XY.x)
	p.Y.Min, p.Y.Max = c.span(&c.Y, XY.y)
	p.Legend.Padding = vg.Millimeter
	c.place(&p.Legend)
	setAxis(&p.X, &c.X)
	setAxis(&p.Y, &c.Y)
	if !c.Y.Log {
		p.Y.Max *= 1.12 // room for the legend
	}
	return p, nil
}

// place puts the legend into the emptiest of three corners: the upper left, the
// upper right, the lower left.
func (c *Chart) place(l *plot.Legend) {
	x0, x1 := c.span(&c.X, XY.x)
	y0, y1 := c.span(&c.Y, XY.y)
	crowd := map[[2]bool]int{} // by left and top
	for _, s := range c.Series {
		for _, p := range s.Points {
			if c.shown(p) {
				crowd[[2]bool{c.X.place(p.X, x0, x1) < 0.5, c.Y.place(p.Y, y0, y1) > 0.5}]++
			}
		}
	}
	l.Left, l.Top = true, true
	for _, corner := range [][2]bool{{false, true}, {true, false}} {
		if crowd[corner] < crowd[[2]bool{l.Left, l.Top}] {
			l.Left, l.Top = corner[0], corner[1]
		}
	}
}

func setAxis(to *plot.Axis, a *Axis) {
	to.Padding = 0
	to.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		var ticks []plot.Tick
		for _, v := range a.marks(low, high, 10) {
			ticks = append(ticks, plot.Tick{Value: v, Label: markText(v)})
		}
		return ticks
	})
	if a.Log {
		to.Scale = plot.LogScale{}
	}
}

// addNotes writes the chart's notes above and to the left of their points, where a point
// far right still has room.
func addNotes(p *plot.Plot, c *Chart) error {
	var l plotter.XYLabels
	for _, n := range c.Notes {
		if c.shown(n.At) {
			l.XYs, l.Labels = append(l.XYs, plotter.XY{X: n.At.X, Y: n.At.Y}), append(l.Labels, n.Text)
		}
	}
	if len(l.Labels) == 0 {
		return nil
	}
	labels, err := plotter.NewLabels(l)
	if err != nil {
		return err
	}
	for i := range labels.TextStyle {
		s := &labels.TextStyle[i]
		s.Font.Variant, s.Font.Size, s.XAlign = "Sans", vg.Points(8), text.XRight
	}
	labels.Offset = vg.Point{X: -vg.Millimeter, Y: vg.Points(2)}
	p.Add(labels)
	return nil
}

func addSeries(p *plot.Plot, c *Chart, i int) error {
	var xys plotter.XYs
	for _, q := range c.Series[i].Points {
		if c.shown(q) {
			xys = append(xys, plotter.XY{X: q.X, Y: q.Y})
		}
	}
	if len(xys) == 0 {
		return nil
	}
	line, dots, err := plotter.NewLinePoints(xys)
	if err != nil {
		return err
	}
	if c.Series[i].Reference {
		line.Color, line.Width = color.Gray{Y: 110}, vg.Points(1)
		p.Add(line)
		p.Legend.Add(c.Series[i].Name, line)
		return nil
	}
	dots.Color = seriesColors[i%len(seriesColors)]
	dots.Shape, dots.Radius = draw.CircleGlyph{}, vg.Points(2.5)
	line.Color, line.Width = dots.Color, vg.Points(1.5)
	thumbs := []plot.Thumbnailer{dots}
	if !c.Series[i].Dots {
		p.Add(line)
		thumbs = append(thumbs, line)
	}
	p.Add(dots)
	if c.Series[i].Name != "" {
		p.Legend.Add(c.Series[i].Name, thumbs...)
	}
	return nil
}
