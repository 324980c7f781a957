// Package pace waits for moments of the wall's clock as exactly as the system
// lets a program. Moments are absolute: a wait that ends late makes the next one
// shorter, so that lags do not add up. What is waited for is none of its business.
package pace

import "time"

// fine is the stretch before a moment that is slept by the system's own timer
// rather than Go's, whose poller counts in whole milliseconds where nothing else
// runs (runtime/netpoll_epoll.go).
const fine = 2 * time.Millisecond

// Clock waits; it is for one goroutine. The zero Clock is ready.
type Clock struct{ timer *time.Timer }

// Until waits for a moment, or until word comes on wake or stop is closed. In the
// last 2 ms it hears neither: it is for waits whose end no word brings nearer by
// less. early is true where it did not get to the moment.
func (c *Clock) Until(at time.Time, wake, stop <-chan struct{}) (early bool) {
	left := time.Until(at)
	if left > fine {
		if c.timer == nil {
			c.timer = time.NewTimer(left - fine/2)
		} else {
			c.timer.Reset(left - fine/2)
		}
		select {
		case <-c.timer.C:
		case <-wake:
			return true
		case <-stop:
			return true
		}
		left = time.Until(at)
	}
	for ; left > 0; left = time.Until(at) {
		precise(left)
	}
	return false
}
