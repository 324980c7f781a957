package bench

import (
	"testing"
	"time"
)

// A search that ends at a stage whose client was the bottleneck says so: on the virtual clock
// the client's own processors are what answers of a microsecond wait for.
func TestSearchTellsOfItsClient(t *testing.T) {
	for each, own := range map[time.Duration]bool{time.Microsecond: true, time.Second: false} {
		w := evaluate(t, steady(each, 4, each), func(c *Config) {
			c.Levels, c.Requests, c.SLO = nil, 200, &SLO{TTFT: each.Seconds() / 2, At: "mean"}
			c.Search = &Search{Mode: Closed, Low: 1, High: 4}
		})
		if len(w.Stages) != 1 || w.Best != nil || w.ClientLimited() != own || w.Stages[0].Client.Valid == own {
			t.Errorf("answers of %v: %d stages, best %+v, client %+v, %q", each, len(w.Stages), w.Best, w.Stages[0].Client, w.Warnings)
		}
	}
}
