package sched

import (
	"sync"
	"testing"
)

// TestConcurrentMakespan: workers of a search share compiled shapes and scratch.
func TestConcurrentMakespan(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for m := 16; m < 32; m++ {
				for k := range NumKinds {
					s := benchmarkSpec(k, 4, 2*m)
					if k == Interleaved {
						s = benchmarkSpec(k, 4, 4*m)
					}
					l, err := Lay(s)
					if err != nil {
						t.Error(err)
						return
					}
					if got, err := Makespan(s); err != nil || got != l.Step {
						t.Errorf("%s m=%d: %g, alone %g, %v", k, m, float64(got), float64(l.Step), err)
					}
				}
			}
		})
	}
	wg.Wait()
}
