package bench

import (
	"context"
	"math"
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
	times := r.arrivals(stage, l)
	warmup, _, duration := r.c.bounds(l)
	begin := r.now()
	src := &source{draw: r.c.draws(r.c.seedOf(stage)), warmup: warmup, duration: duration, now: func() time.Duration { return r.now() - begin },
		began: true, measured: r.c.WarmupTime}
	ctx, stop := r.bounded(ctx, src)
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

// arrivals are the times of a stage's sessions since its start.
func (r *run) arrivals(stage int, l Level) []time.Duration {
	warmup, requests, duration := r.c.bounds(l)
	horizon := time.Duration(0)
	if duration > 0 {
		horizon = r.c.WarmupTime + duration
	}
	n := workload.MaxRequests
	if requests > 0 {
		n = (warmup + requests + r.c.Turns - 1) / r.c.Turns
	}
	if l.Mode == Open {
		a := l.Arrival
		if horizon > 0 && warmup > 0 {
			horizon += time.Duration(float64(warmup) / a.Rate * 1e9)
		}
		if r.c.WarmupTime > 0 && requests > 0 {
			n += int(math.Ceil(r.c.WarmupTime.Seconds() * a.Rate))
		}
		return a.Times(n, horizon, workload.Stream(r.c.seedOf(stage), workload.Arrivals))
	}
	var times []time.Duration
	for i := range r.c.Trace.Requests {
		at := time.Duration(float64(r.c.Trace.Requests[i].At) / r.c.Speed)
		if i >= n || horizon > 0 && at >= horizon {
			break
		}
		times = append(times, at)
	}
	return slices.Clip(times)
}
