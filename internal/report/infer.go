package report

import (
	"github.com/ridgeline/ridgeline/internal/api"
)

// The lines of a chart in text.
const chartRows = 16

// inferSections are the parts of the page but its charts, in order.
var inferSections = []func(*Page, *api.InferAnswer){inferHeader, inferVerdict, inferVariants, inferLoads, inferFront, inferTime, inferBounds,
	inferFlips, inferMemory, inferStrategies, inferSpeculation, inferLatency, inferNotes}

// Infer draws the answer of `infer`: the verdict first, then every load, where a
// decode step's time goes, what memory holds, what latency costs and what the
// alternatives give; charts last. Sections without content are left out.
func Infer(p *Page, a *api.InferAnswer) {
	for _, draw := range inferSections {
		draw(p, a)
	}
	inferCharts(p, a)
}

// inferCharts draws in text what --plot draws as a picture.
func inferCharts(p *Page, a *api.InferAnswer) {
	for _, c := range InferCharts(a) {
		if c.readable() {
			p.Chart(&c, chartRows)
		}
	}
}

// readable tells whether a text chart says more than a table row would.
func (c *Chart) readable() bool {
	n := 0
	for _, s := range c.Series {
		for _, q := range s.Points {
			if c.shown(q) {
				n++
			}
		}
	}
	return n > 2
}
