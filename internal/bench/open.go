package bench

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// open sends at times that do not depend on answers: each request has its place
// on an absolute schedule, so that the mean rate is exact and lateness does not
// add up; one that is late is sent at once. With a cap, requests over it wait, and
// their waiting counts.
func (r *run) open(ctx context.Context, stage int, l Level, k *keeper) (unsent int) {
	times, from := r.arrivals(stage, l)
	warmup, _, duration := r.c.bounds(l)
	begin := r.now()
	src := &source{draw: r.c.draws(r.c.seedOf(stage)), began: true} // the schedule bounds it, not the clock: what is due is sent, however late
	ctx, stop := r.bounded(ctx, duration, func() time.Duration { return begin + from + duration - r.now() })
	defer stop()
	r.live.total(len(times))
	var slots chan struct{}
	if r.c.Cap > 0 {
		slots = make(chan struct{}, r.c.Cap)
	}
	var sent sync.WaitGroup
	var lost struct {
		sync.Mutex
		n int
	}
	drop := func(n int) { lost.Lock(); lost.n += n; lost.Unlock() }
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i, at := range times {
		timer.Reset(max(begin+at-r.now(), 0))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		if ctx.Err() != nil {
			drop(len(times) - i)
			break
		}
		t, _ := src.next()
		warm := at < r.c.WarmupTime
		sent.Go(func() {
			if slots != nil {
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					drop(1)
					return
				}
			}
			free := func() {
				if slots != nil {
					<-slots
				}
			}
			r.session(ctx, stage, l, k, t, begin+at, func(n int) bool { return warm || n < warmup }, free)
		})
	}
	sent.Wait()
	return lost.n
}

// arrivals are the times of a stage's sessions since its start, and from when on it
// is measured: a duration counts from there.
func (r *run) arrivals(stage int, l Level) (times []time.Duration, from time.Duration) {
	warmup, requests, duration := r.c.bounds(l)
	first := 0 // session that holds a measured request
	for held := 0; ; first++ {
		if held += r.c.turnsOf(first); held > warmup {
			break
		}
	}
	upTo := r.c.traced
	if l.Mode == Open {
		upTo = func(n int, horizon time.Duration) []time.Duration {
			return l.Arrival.Times(n, horizon, workload.Stream(r.c.seedOf(stage), workload.Arrivals))
		}
	}
	n := workload.MaxRequests
	if requests > 0 {
		if n = 0; r.c.WarmupTime > 0 {
			n = len(upTo(workload.MaxRequests, r.c.WarmupTime))
		}
		for held := 0; held < warmup+requests; {
			held += r.c.turnsOf(n)
			n++
		}
	}
	from = r.c.WarmupTime
	if t := upTo(first+1, 0); len(t) > first {
		from = max(from, t[first])
	}
	horizon := time.Duration(0)
	if duration > 0 {
		horizon = from + duration
	}
	return upTo(n, horizon), from
}

// traced are the times of a trace's first n requests at its speed, or of those before the
// horizon where that is above 0.
func (c *Config) traced(n int, horizon time.Duration) []time.Duration {
	var times []time.Duration
	for i := range c.Trace.Requests[:min(n, len(c.Trace.Requests))] {
		at := time.Duration(float64(c.Trace.Requests[i].At) / c.Speed)
		if horizon > 0 && at >= horizon {
			break
		}
		times = append(times, at)
	}
	return slices.Clip(times)
}
