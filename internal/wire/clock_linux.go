package wire

import (
	"sync"
	"time"
)

const (
	// jitter is how far apart two clocks may seem because another program ran between their readings.
	jitter = 100 * time.Microsecond
	// slew is the part by which the wall clock may be faster or slower than the monotonic one while it is
	// put right gradually: 500 ppm (adjtime(3)), of both readings.
	slew = 1e-3
	// distrust is how long bytes may still be stamped by what the wall clock said before it was set.
	distrust = time.Second
)

// reading is of both clocks at once.
type reading struct {
	now  time.Time // monotonic
	wall int64     // ns
}

func read() reading {
	now := time.Now()
	return reading{now, now.UnixNano()}
}

// apart tells whether the wall clock was set between two readings.
func (r reading) apart(later reading) bool {
	passed := later.now.Sub(r.now)
	set := time.Duration(later.wall-r.wall) - passed
	return set.Abs() > jitter+time.Duration(slew*float64(passed))
}

// wall watches the wall clock, by which the system stamps, for being set.
var wall struct {
	mu   sync.Mutex
	last reading
	set  time.Time
}

// clock finds stamps of the wall clock on the monotonic one, which nobody sets.
type clock struct {
	reading
	trusted bool
}

// read is to be called once before or after some reads.
func (k *clock) read() {
	wall.mu.Lock()
	defer wall.mu.Unlock()
	k.reading = read()
	if !wall.last.now.IsZero() && wall.last.apart(k.reading) {
		if k.reading = read(); wall.last.apart(k.reading) { // else another program had run between the readings
			wall.set = k.now
		}
	}
	wall.last = k.reading
	k.trusted = wall.set.IsZero() || k.now.Sub(wall.set) > distrust
}

// at is the time of a stamp. ok is false where there is none, or where it cannot be right: from
// before the last one of its connection, or yet to come.
func (k *clock) at(stamp int64, last time.Time) (at time.Time, ok bool) {
	if stamp == 0 || !k.trusted {
		return at, false
	}
	at = k.now.Add(time.Duration(stamp - k.wall))
	if early := last.Sub(at); early > 0 {
		return last, early <= jitter
	}
	if at.After(k.now) { // it came since
		if now := time.Now(); at.After(now) {
			return now, at.Sub(now) <= jitter
		}
	}
	return at, true
}
