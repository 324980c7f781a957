//go:build !linux

package pace

import "time"

// precise sleeps as exactly as the runtime does.
func precise(d time.Duration) { time.Sleep(d) }
