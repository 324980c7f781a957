package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		axis      Axis
		low, high float64
		most      int
		want      []float64
	}{
		{Axis{}, 0, 10, 5, []float64{0, 2, 4, 6, 8, 10}},
		{Axis{}, 0, 0.193, 4, []float64{0, 0.05, 0.1, 0.15}},
		{Axis{}, 0, 2500, 5, []float64{0, 500, 1000, 1500, 2000, 2500}},
		{Axis{Log: true}, 1, 128, 10, []float64{1, 2, 4, 8, 16, 32, 64, 128}},
		{Axis{Log: true}, 1, 1024, 10, []float64{1, 4, 16, 64, 256, 1024}},
		{Axis{Log: true}, 3, 20, 10, []float64{4, 8, 16}},
		{Axis{Log: true, Decimal: true}, 3, 120, 10, []float64{5, 10, 20, 50, 100}},
		{Axis{Log: true, Decimal: true}, 0.0031, 80, 10, []float64{0.01, 0.1, 1, 10}},
		{Axis{Log: true, Decimal: true}, 1e-3, 1e13, 6, []float64{1e-3, 1, 1e3, 1e6, 1e9, 1e12}},
		{Axis{Log: true, Decimal: true}, 24, 58, 10, []float64{30, 40, 50}},
		{Axis{}, 1, 1, 10, nil},
	} {
		got := c.axis.marks(c.low, c.high, c.most)
		if d := cmp.Diff(c.want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
			t.Errorf("%+v: %s", c, d)
		}
	}
	for v, want := range map[float64]string{0: "0", 0.05: "0.05", 12.5: "12.5", 1024: "1024", 32000: "32k", 2.5e6: "2.5M"} {
		if got := markText(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}

// A text chart as a reader sees it.
func TestChartInText(t *testing.T) {
	c := Chart{Title: "Output", X: Axis{Label: "requests", Log: true}, Y: Axis{Label: "tokens/s"}, Series: []Series{
		{Name: "a", Points: []XY{{1, 10}, {2, 20}, {4, 40}, {8, 40}}}, {Name: "b", Points: []XY{{1, 5}, {8, 15}, {0, 1}, {2, math.NaN()}}}}}
	got := page(t, 40, func(p *Page) { p.Chart(&c, 9) })
	want := `
Output
tokens/s
40 ┤                      ·●···········●
   ┤                   ···
30 ┤                 ··
   ┤              ···
20 ┤         ···●·
   ┤   ······                  ········○
10 ┤●··      ··················
   ┤○········
 0 ┤
   └────────────────────────────────────
    1           2          4    requests
    ● a ○ b
`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestChartsFitAnyPage(t *testing.T) {
	for _, points := range [][]XY{{{1, 1}}, {{1, 0}, {2, 0}}, {{1e-9, 1e12}, {1e9, 1e-12}}, {{5, 5}, {5, 5}}, {{1, -3}, {2, 4}}} {
		for _, log := range []bool{false, true} {
			c := Chart{Title: "t", X: Axis{Label: "a long label of the axis", Log: log}, Y: Axis{Label: "y"}, Series: []Series{{Name: strings.Repeat("name ", 30), Points: points}}}
			for _, width := range []int{60, 100} {
				fits(t, page(t, width, func(p *Page) { p.Chart(&c, 10) }), width)
			}
			if err := SVG(io.Discard, "", []Chart{c}); err != nil {
				t.Error(err)
			}
		}
	}
	empty := Chart{Title: "t", Series: []Series{{Points: []XY{{math.Inf(1), 1}}}}}
	if got := page(t, 60, func(p *Page) { p.Chart(&empty, 10) }); got != "" {
		t.Errorf("a chart without points prints %q", got)
	}
	if err := SVG(io.Discard, "", []Chart{empty}); err == nil {
		t.Error("a picture without points was written")
	}
}

// The picture is well-formed, names what it shows and holds no impossible number.
func TestSVG(t *testing.T) {
	c := Chart{Title: "Speed <1>", X: Axis{Label: "requests", Log: true}, Y: Axis{Label: "tokens/s"}, Series: []Series{{Name: "no speculation", Points: []XY{{1, 10}, {2, 20}}}}}
	var b bytes.Buffer
	if err := SVG(&b, "a title", []Chart{c, c, c}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for d := xml.NewDecoder(&b); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"no speculation", "requests", "tokens/s", "sans-serif"} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error("the picture holds a number that is none")
	}
}
