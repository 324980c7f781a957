package serve

import (
	"math"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// By hand, steps of 10 ms: the first request finds the engine idle and has its token at
// 10 ms. The one of 3 ms sees the step in flight and half of five more end, as one other
// runs, two for it and three for the next, and then runs one of its own; the last finds the
// engine idle again.
func TestAdmissionHoldsNewcomersOfABusyEngine(t *testing.T) {
	e := Engine{Stepper: linear{step: 10e-3}, MaxSeqs: 8, MaxTokens: 64, BlockSize: 16, Blocks: 100, Admission: 5}
	at := func(ms, out int) workload.Request {
		return workload.Request{At: time.Duration(ms) * time.Millisecond, Input: 4, Output: out}
	}
	w := &workload.Workload{Requests: []workload.Request{at(0, 20), at(3, 1), at(53, 1), at(500, 1)}}
	for ahead, want := range map[bool][]int{false: {10, 37, 47, 10}, true: {10, 37, 47, 10}} {
		e.Ahead = ahead
		r := run(t, &Service{Engine: e}, w, Options{})
		for i, x := range r.Records {
			if d, _ := x.TTFT(); d != time.Duration(want[i])*time.Millisecond {
				t.Errorf("ahead %v: request %d waits %v, want %d ms", ahead, i, d, want[i])
			}
		}
	}
}

// Ways to the queue differ from request to request, of the same seed alike and on average as the engine
// says; those of equal users of an engine that reads prompts apart, who march in step, are all the same.
func TestWaysToTheQueueDiffer(t *testing.T) {
	const users, n = 4, 4000
	e := Engine{Stepper: linear{step: 1e-6}, MaxSeqs: users, MaxTokens: 64, BlockSize: 16, Blocks: 100, Entry: 10 * time.Millisecond}
	w := alike(t, &Service{Engine: e}, 4, 2, users, n)
	x := run(t, &Service{Engine: e}, w, Options{Seed: 1})
	if mean := x.Whole.Queueing.Mean; math.Abs(mean/10e-3-1) > 3/math.Sqrt(n) {
		t.Errorf("a request takes %g s to the queue on average, want 10 ms", mean)
	}
	if r := run(t, &Service{Engine: e}, w, Options{Seed: 1}); r.End != x.End {
		t.Errorf("the same seed ends at %v and %v", x.End, r.End)
	}
	if r := run(t, &Service{Engine: e}, w, Options{Seed: 2}); r.End == x.End {
		t.Errorf("another seed ends at %v, too", x.End)
	}
	e.Separate = true
	if d := run(t, &Service{Engine: e}, w, Options{Seed: 1}).Whole.Queueing; d.Min != 10e-3 || d.Max != 10e-3 {
		t.Errorf("users in step take %g to %g s to the queue", d.Min, d.Max)
	}
}
