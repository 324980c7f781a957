package report

import (
	"math"
	"strings"
)

// levels are the heights of a spark line, from nothing to full.
var levels = []rune(" ▁▂▃▄▅▆▇█")

// Spark draws values as one line of width columns on the scale from 0 to most;
// each column is the mean of the values that fall on it. Any value above 0 shows.
func Spark(values []float64, most float64, width int) string {
	if len(values) == 0 || width < 1 || !(most > 0) {
		return ""
	}
	width = min(width, len(values))
	var b strings.Builder
	for c := range width {
		from, to := c*len(values)/width, (c+1)*len(values)/width
		sum := 0.0
		for _, v := range values[from:to] {
			sum += v
		}
		mean := sum / float64(to-from)
		level := int(math.Round(min(mean/most, 1) * float64(len(levels)-1)))
		if mean > 0 {
			level = max(level, 1)
		}
		b.WriteRune(levels[level])
	}
	return b.String()
}
