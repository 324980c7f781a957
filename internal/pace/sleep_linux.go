package pace

import (
	"syscall"
	"time"
)

// precise sleeps with the kernel's high-resolution timer. A signal ends it early;
// whoever calls looks at the clock again.
func precise(d time.Duration) {
	if d <= 0 {
		return
	}
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // EINTR
}
