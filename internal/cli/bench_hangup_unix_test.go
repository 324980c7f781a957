//go:build unix

package cli

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A terminal that is closed, or an end that is asked for, ends a run with a report of what was measured.
func TestRunEndsWithItsTerminal(t *testing.T) {
	for _, end := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		guard := make(chan os.Signal, 1) // an end that Run does not take must not end the tests
		signal.Notify(guard, end)
		var asked, came atomic.Int32
		over := make(chan struct{})
		url := relay(t, service(t, &asked), func() {
			n := came.Add(1)
			if n <= 3 {
				return
			}
			if n == 4 {
				if err := syscall.Kill(os.Getpid(), end); err != nil {
					t.Error(err)
				}
			}
			select {
			case <-over:
			case <-time.After(20 * time.Second):
			}
		})
		d, _, errs := benchOf(t, "--url", url, "--metrics-url", "-", "--no-keep")
		close(over)
		if q := d.Stages[0].Requests; q.OK < 1 || q.OK > 3 || q.Sent != q.OK+q.Cancelled {
			t.Errorf("%v: %+v: %s", end, q, errs)
		}
		signal.Stop(guard)
	}
}
