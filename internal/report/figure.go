package report

import (
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Figure is a figure of a machine in JSON: SI value with grade and source.
type Figure struct {
	Value  float64 `json:"value"`
	Grade  string  `json:"grade"`
	Source string  `json:"source"`
}

// figureJSON is nil, and so left out, for an absent figure.
func figureJSON(f hw.Figure) *Figure {
	if !f.Known() {
		return nil
	}
	return &Figure{f.Value, f.Grade.String(), f.Source}
}

// formatFigure prints a figure in its SI unit, scaled; "" where it is absent.
func formatFigure(f hw.Figure, si string) string {
	if !f.Known() {
		return ""
	}
	switch si {
	case "FLOP/s":
		return unit.FormatFLOPRate(unit.FLOPRate(f.Value))
	case "OP/s":
		return strings.Replace(unit.FormatFLOPRate(unit.FLOPRate(f.Value)), "FLOP", "OP", 1)
	case "B/s":
		return unit.FormatByteRate(unit.ByteRate(f.Value))
	case "B":
		return unit.FormatGB(unit.Bytes(f.Value))
	case "s":
		return unit.FormatSeconds(unit.Seconds(f.Value))
	case "W":
		return strconv.FormatFloat(f.Value, 'f', -1, 64) + " W"
	}
	return strconv.FormatFloat(f.Value, 'g', 4, 64) + " " + si
}

// share is achieved over peak as per cent; "" where one is absent.
func share(achieved, peak hw.Figure) string {
	if !achieved.Known() || !peak.Known() {
		return ""
	}
	return unit.FormatPercent(achieved.Value / peak.Value)
}

// citations numbers the sources of a page in the order they are cited.
type citations []string

// cite returns the number of a source, a new one where it was not cited yet;
// "" for none.
func (c *citations) cite(source string) string {
	if source == "" {
		return ""
	}
	for i, s := range *c {
		if s == source {
			return strconv.Itoa(i + 1)
		}
	}
	*c = append(*c, source)
	return strconv.Itoa(len(*c))
}

// print lists the sources.
func (c citations) print(p *Page) {
	rows := make([][]string, len(c))
	for i, s := range c {
		rows[i] = []string{"[" + strconv.Itoa(i+1) + "]", s}
	}
	p.Table([]Column{Right(""), Left("")}, rows)
}
