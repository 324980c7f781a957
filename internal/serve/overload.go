package serve

import (
	"fmt"
	"math"
)

// growth is the share of arrivals by which the queue must grow for the load to
// count as more than the service can take.
const growth = 0.05

// overload words that the load was more than the service takes: over the second
// half of the arrivals the queue grew, by more than growth of them and by more
// than three standard deviations of their number. A closed loop cannot overload:
// its users wait.
func (s *simulation) overload() string {
	half, last := s.watch.half, s.watch.last
	if s.load.Concurrency > 0 || last.arrived == 0 {
		return ""
	}
	came, grew := last.arrived-half.arrived, last.waiting-half.waiting
	noise := 3 * max(s.load.Variation, 1) * math.Sqrt(float64(came))
	if float64(grew) <= max(growth*float64(came), noise) {
		return ""
	}
	return fmt.Sprintf("while the last %d requests arrived, the queue grew by %d: the load is more than the service takes, and waiting lasts the longer the load does", came, grew)
}
