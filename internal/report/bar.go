package report

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// eighths are the partial blocks of a bar's end.
var eighths = []rune(" ▏▎▍▌▋▊▉")

// Bar draws share (0 to 1) of width columns in eighths of a column. A positive
// share shows at least the thinnest mark; a share outside 0..1, which would
// leave the picture, is drawn at the end it passed.
func Bar(share float64, width int) string {
	if math.IsNaN(share) || share <= 0 {
		return ""
	}
	n := max(1, int(math.Round(min(share, 1)*float64(width)*8)))
	s := strings.Repeat("█", n/8)
	if r := n % 8; r > 0 {
		s += string(eighths[r])
	}
	return s
}

// Quantity is one row of a bar chart.
type Quantity struct {
	Name  string
	Text  string // the value as printed
	Value float64
}

// Bars prints one line for each quantity: name, value, share of whole in per
// cent, and a bar as long as the page allows. The bars share the scale on which
// whole is the full length.
func (p *Page) Bars(whole float64, qs []Quantity) {
	name, text := 0, 0
	for _, q := range qs {
		name, text = max(name, utf8.RuneCountInString(q.Name)), max(text, utf8.RuneCountInString(q.Text))
	}
	room := max(p.Width-name-text-len(gap)*3-len("100.0 %"), minLast)
	for _, q := range qs {
		line := pad(q.Name, name, false) + gap + pad(q.Text, text, true) + gap + pad(unit.FormatPercent(q.Value/whole), 7, true) + gap + Bar(q.Value/whole, room)
		p.Line("%s", strings.TrimRight(line, " "))
	}
}
