package bench

import (
	"context"
	"sync"
	"time"
)

// seedOf is the seed of a stage's lengths and arrivals: stages do not repeat each
// other, and a run with the same seed repeats itself.
func (c *Config) seedOf(stage int) uint64 { return c.Seed + uint64(stage)*0x9e3779b97f4a7c15 }

// source is the stage's tasks; begin is when the stage began.
func (r *run) source(stage int, l Level, begin Timestamp) *source {
	warmup, requests, duration := r.c.bounds(l)
	s := &source{draw: r.c.draws(r.c.seedOf(stage)), warmup: warmup, duration: duration, warmTime: r.c.WarmupTime,
		now: func() time.Duration { return r.now() - begin }}
	if requests > 0 {
		s.most = warmup + requests
	}
	if r.c.Trace != nil {
		s.last = len(r.c.Trace.Requests)
	}
	return s
}

// closed keeps exactly the level's number of sessions in flight: a worker per
// slot, whose next request starts as its last one ends.
func (r *run) closed(ctx context.Context, stage int, l Level, k *keeper) {
	begin := r.now()
	src := r.source(stage, l, begin)
	ctx, stop := r.bounded(ctx, src.duration, src.left)
	defer stop()
	r.live.total(src.most)
	var workers sync.WaitGroup
	for range l.Concurrency {
		workers.Go(func() {
			fails := 0
			for ctx.Err() == nil {
				t, ok := src.next()
				if !ok {
					return
				}
				if r.session(ctx, stage, l, k, t, r.now(), src.isWarm, nil) {
					fails = 0
				} else {
					fails++
					pause(ctx, min(time.Duration(fails)*failPause, maxPause))
				}
			}
		})
	}
	workers.Wait()
}

// A worker whose requests fail without an answer waits a little longer each time:
// a service that refuses or restarts is not met by a storm of requests, which
// would end a stage of so many requests within a moment. A service that answers
// never sees the pause.
const (
	failPause = 50 * time.Millisecond
	maxPause  = time.Second
)

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// bounded is the context of a stage's requests: with a grace it ends that long
// after the measured duration, of which so much is left.
func (r *run) bounded(ctx context.Context, duration time.Duration, remains func() time.Duration) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	if r.c.Grace <= 0 || duration <= 0 {
		return ctx, stop
	}
	go func() {
		for ctx.Err() == nil {
			left := remains() + r.c.Grace
			if left <= 0 {
				stop()
				return
			}
			pause(ctx, min(left, 100*time.Millisecond))
		}
	}()
	return ctx, stop
}

// left is the time until the measured part is over.
func (s *source) left() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.began {
		return s.duration
	}
	return s.measured + s.duration - s.now()
}

// isWarm tells whether a request with that number, sent now, warms up.
func (s *source) isWarm(number int) bool { return number < s.warmup || s.now() < s.warmTime }
