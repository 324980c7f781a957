package pace

import (
	"testing"
	"time"
)

// Lags do not add up: a hundred waits of a grid end on the grid's last moment, not
// a hundred lags after it. A loaded machine may be late at any one of them, so
// the best of several runs counts.
func TestLagsDoNotAddUp(t *testing.T) {
	const each, n = 300 * time.Microsecond, 100
	least := time.Hour
	for range 5 {
		var c Clock
		start := time.Now()
		for i := range n {
			at := start.Add(time.Duration(i+1) * each)
			if c.Until(at, nil, nil) || time.Now().Before(at) {
				t.Fatal("a wait ended before its moment")
			}
		}
		least = min(least, time.Since(start)-n*each)
	}
	if least > n*each {
		t.Errorf("%d waits of %v ended %v late", n, each, least)
	}
}

func TestWordEndsAWait(t *testing.T) {
	var c Clock
	wake := make(chan struct{}, 1)
	wake <- struct{}{}
	if !c.Until(time.Now().Add(time.Hour), wake, nil) {
		t.Error("it waited")
	}
	stop := make(chan struct{})
	close(stop)
	if !c.Until(time.Now().Add(time.Hour), nil, stop) {
		t.Error("it waited")
	}
	if c.Until(time.Now().Add(-time.Second), wake, stop) {
		t.Error("a moment that is past was not reached")
	}
}
