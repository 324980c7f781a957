//go:build !linux

package probe

import "time"

// threadTime is not available here: probes take wall time.
func threadTime() (time.Duration, bool) { return 0, false }
