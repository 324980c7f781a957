package serve

import (
	"context"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// Users are spread over about one answer unless they march in step; they come within that time, at the same moments for
// the same seed, and every request is served once.
func TestRamp(t *testing.T) {
	users := func(isl, osl workload.Length, n int) *workload.Workload {
		w, err := (&workload.Synthetic{Input: isl, Output: osl, Concurrency: n, Requests: 10 * n}).Generate()
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	one, some := workload.Length{Low: 64, High: 64}, workload.Length{Low: 50, High: 64}
	mixed, apart := engine(ms(10)), engine(ms(10))
	apart.Separate = true
	for name, c := range map[string]struct {
		engine Engine
		load   *workload.Workload
		spread bool
	}{
		"alike, mixed":         {mixed, users(one, one, 8), true},
		"alike, prompts apart": {apart, users(one, one, 8), false},
		"varied":               {mixed, users(some, one, 8), true},
		"varied, apart":        {apart, users(some, one, 8), true},
		"one user":             {mixed, users(one, one, 1), false},
	} {
		s := &Service{Engine: c.engine}
		d, err := Ramp(context.Background(), s, c.load, 3)
		if err != nil || (d > 0) != c.spread {
			t.Fatalf("%s: %v, %v", name, d, err)
		}
		if !c.spread {
			continue
		}
		if d < 500*time.Millisecond || d > time.Second {
			t.Errorf("%s: %v, an answer of 64 tokens at 10 ms a step takes 0.64 s", name, d)
		}
		c.load.Ramp = d
		a, b := run(t, s, c.load, Options{Seed: 3}), run(t, s, c.load, Options{Seed: 3})
		if a.Done != len(c.load.Requests) || a.End != b.End {
			t.Errorf("%s: %d of %d answered in %v, again in %v", name, a.Done, len(c.load.Requests), a.End, b.End)
		}
		last := time.Duration(0)
		for i := range c.load.Concurrency {
			at := a.Records[i].Queued
			if at > d {
				t.Errorf("%s: user %d comes at %v of %v", name, i, at, d)
			}
			last = max(last, at)
		}
		if last < d/4 {
			t.Errorf("%s: all users have come at %v of %v", name, last, d)
		}
	}
}
