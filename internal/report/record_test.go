package report

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/record"
)

// A record that states neither best nor spread, as bench's documents do, shows neither: not known is not 0.
func TestUnknownBestIsNotShown(t *testing.T) {
	for best, shown := range map[float64]bool{0: false, 0.011: true} {
		cells := strings.Join(resultCells(&record.Result{Kind: record.Serving, What: "decode", Unit: "s", Value: 0.012, Best: best, Spread: best, Repeats: 9}), "|")
		if strings.Contains(cells, "|0 s|") || strings.Contains(cells, "|0.0 %|") || strings.Contains(cells, "11") != shown {
			t.Errorf("best of %g: %s", best, cells)
		}
	}
}
