package bench

import (
	"syscall"
	"time"
)

// cpuTime is what the process has used of all processors.
func cpuTime() time.Duration {
	p, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0 // cannot fail for the own process
	}
	var created, ended, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(p, &created, &ended, &kernel, &user) != nil {
		return 0
	}
	return ticks(kernel) + ticks(user)
}

// ticks are counted in 100 ns.
func ticks(f syscall.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
