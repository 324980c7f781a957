package netlab

import (
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/des"
	"github.com/ridgeline/ridgeline/internal/pace"
)

// alarm rings at moments for many goroutines with one that waits: exact waits take
// a thread of the system each.
type alarm struct {
	mu     sync.Mutex
	start  time.Time
	events des.Queue[chan<- struct{}]
	wake   chan struct{}
}

func newAlarm() *alarm { return &alarm{start: time.Now(), wake: make(chan struct{}, 1)} }

// ring sends on c, which must have room, at a moment.
func (a *alarm) ring(at time.Time, c chan<- struct{}) {
	a.mu.Lock()
	due := max(at.Sub(a.start), a.events.Now())
	first, any := a.events.Next()
	err := a.events.Put(due, 0, c)
	a.mu.Unlock()
	if err != nil {
		panic(err) // due is not before the queue's clock
	}
	if !any || due < first {
		select {
		case a.wake <- struct{}{}:
		default:
		}
	}
}

// run rings until stop is closed.
func (a *alarm) run(stop <-chan struct{}) {
	var clock pace.Clock
	for {
		a.mu.Lock()
		next, any := a.events.Next()
		for any && next <= time.Since(a.start) {
			c, _ := a.events.Take()
			c <- struct{}{}
			next, any = a.events.Next()
		}
		a.mu.Unlock()
		if any {
			clock.Until(a.start.Add(next), a.wake, stop)
		} else {
			select {
			case <-a.wake:
			case <-stop:
			}
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}
