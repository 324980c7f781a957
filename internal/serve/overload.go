package serve

import (
	"fmt"
	"math"
)

// growth is the share of arrivals by which the requests under way must grow for
// the load to count as more than the service can take.
const growth = 0.05

// overload words that the load was more than the service takes: over the second
// half of the arrivals the requests under way grew, by more than growth of them
// and by more than three standard deviations of the number of arrivals, and some
// waited at the end. A closed loop cannot overload: its users wait.
func (s *simulation) overload() string {
	w := &s.watch
	if s.load.Concurrency > 0 || w.last.Arrived == 0 || w.queue == 0 {
		return ""
	}
	came := w.last.Arrived - w.half.Arrived
	grew := w.last.underway() - w.half.underway()
	noise := 3 * max(s.load.Variation, 1) * math.Sqrt(float64(came))
	if float64(grew) <= max(growth*float64(came), noise) {
		return ""
	}
	return fmt.Sprintf("of the last %d requests that arrived, %d were not answered meanwhile: the load is more than the service takes, and waiting grows as long as it lasts", came, grew)
}
