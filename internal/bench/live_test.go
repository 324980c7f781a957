package bench

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Whoever watches sees tokens as they come, not when their answers end.
func TestWatchersSeeTokensAsTheyCome(t *testing.T) {
	var events []Event
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		w := &world{watch: func(e Event) { events = append(events, e) }}
		w.run(ctx, stop, steady(10*ms, 500, 10*ms), func(c *Config) { c.Levels = []Level{{Mode: Closed, Concurrency: 2}}; c.Requests = 2 })
	})
	measured, last := 0, events[len(events)-1]
	for _, e := range events {
		if e.Phase != Measuring || e.Elapsed < time.Second || e.Elapsed > 4*time.Second {
			continue
		}
		measured++
		if e.TokenRate < 180 || e.TokenRate > 220 || e.InFlight != 2 || e.OK != 0 { // two streams of 100/s
			t.Errorf("%v: %g tokens/s, %d in flight, %d done", e.Elapsed, e.TokenRate, e.InFlight, e.OK)
		}
	}
	if measured < 10 || last.Phase != StageDone || last.Finished == nil || last.Tokens != 1000 || last.Total != 2 {
		t.Errorf("%d events, the last %+v", measured, last)
	}
}
