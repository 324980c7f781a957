// Package netlab makes a network slower on purpose: a TCP proxy that holds bytes
// back, so that what delay, jitter and a narrow link do to a service can be
// measured on any machine, and, where the kernel and its owner allow, traffic
// control and network namespaces that make two hosts of one. It knows nothing of
// what the bytes mean.
package netlab

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Shape is one direction of a link. The zero Shape adds nothing.
type Shape struct {
	Delay  time.Duration // one way
	Jitter time.Duration // uniform, either way of Delay, as netem draws it
	Rate   float64       // bytes per second of all connections together, 0 = unlimited
}

// Link is both directions as the client sees them.
type Link struct{ Up, Down Shape }

// Both is a link that is alike either way.
func Both(s Shape) Link { return Link{s, s} }

// check says what is wrong with a shape.
func (s Shape) check() error {
	switch {
	case s.Delay < 0 || s.Delay > time.Hour:
		return fmt.Errorf("delay %v: give 0 up to an hour", s.Delay)
	case s.Jitter < 0 || s.Jitter > s.Delay:
		return fmt.Errorf("jitter %v: give 0 up to the delay of %v, nothing comes before it was sent", s.Jitter, s.Delay)
	case !(s.Rate >= 0):
		return fmt.Errorf("rate %g: give bytes per second", s.Rate)
	}
	return nil
}

// Check says what is wrong with a link.
func (l Link) Check() error {
	if err := l.Up.check(); err != nil {
		return err
	}
	return l.Down.check()
}

// wire is one direction in use: pieces take the link one after the other.
type wire struct {
	Shape
	mu   sync.Mutex
	draw *rand.Rand
	free time.Time // when the link has sent all that it was given
}

func newWire(s Shape, seed uint64) *wire {
	return &wire{Shape: s, draw: rand.New(rand.NewPCG(seed, 0))}
}

// arrival is when n bytes that come to the link now are at its other end, those of
// one stream never before the ones ahead of them.
func (w *wire) arrival(now time.Time, n int, ahead time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := now
	if w.Rate > 0 {
		if w.free.After(sent) {
			sent = w.free
		}
		sent = sent.Add(time.Duration(float64(n) / w.Rate * float64(time.Second)))
		w.free = sent
	}
	at := sent.Add(w.Delay)
	if w.Jitter > 0 {
		at = at.Add(time.Duration((2*w.draw.Float64() - 1) * float64(w.Jitter)))
	}
	if at.Before(ahead) {
		return ahead
	}
	return at
}
