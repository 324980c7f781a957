package workload

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func generate(t *testing.T, s Synthetic) *Workload {
	t.Helper()
	w, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func fixed(n int) Length { return Length{n, n} }

// A constant rate has no rounding that adds up: request i comes at i/rate.
func TestConstantRate(t *testing.T) {
	w := generate(t, Synthetic{Input: fixed(1), Output: fixed(1), Arrival: Arrival{Rate: 3}, Requests: 3_000_001})
	if got := w.Requests[3_000_000].At; got != 1_000_000*time.Second {
		t.Errorf("request 3,000,000 at 3 per second comes at %v", got)
	}
}

// The gaps have the mean 1/rate and the coefficient of variation asked for. With
// n gaps the mean's standard error is cv/sqrt(n); for gamma's heavy tail at cv 3
// the error of the sample cv is larger, hence its tolerance.
func TestGapsHaveTheirMoments(t *testing.T) {
	const n, rate = 200_000, 50.0
	for _, c := range []struct {
		process string
		cv, tol float64
	}{{"constant", 0, 1e-9}, {"poisson", 1, 0.02}, {"gamma:0.3", 0.3, 0.02}, {"gamma:1", 1, 0.02}, {"gamma:3", 3, 0.05}} {
		a, err := ParseProcess(c.process)
		if err != nil {
			t.Fatal(err)
		}
		a.Rate = rate
		times := a.Times(n, 0, Stream(7, Arrivals))
		var sum, squares float64
		for i := 1; i < n; i++ {
			gap := (times[i] - times[i-1]).Seconds()
			sum, squares = sum+gap, squares+gap*gap
		}
		mean := sum / (n - 1)
		cv := math.Sqrt(max(squares/(n-1)-mean*mean, 0)) / mean
		if math.Abs(mean*rate-1) > 4*c.cv/math.Sqrt(n)+1e-9 {
			t.Errorf("%s: mean gap %g s, want %g", c.process, mean, 1/rate)
		}
		if math.Abs(cv-c.cv) > max(c.tol*c.cv, 1e-6) {
			t.Errorf("%s: coefficient of variation %g", c.process, cv)
		}
		if a.String() != c.process {
			t.Errorf("%s prints as %s", c.process, a)
		}
	}
}

// Same seed, same workload; and a stream is a subsystem's own: other lengths
// leave the arrivals as they were, a spread of prompts leaves the answers.
func TestStreamsDoNotDisturbEachOther(t *testing.T) {
	poisson := Arrival{Process: Poisson, Rate: 10, Variation: 1}
	base := Synthetic{Input: fixed(100), Output: Length{50, 150}, Arrival: poisson, Requests: 100, Seed: 3}
	a := generate(t, base)
	if diff := cmp.Diff(a, generate(t, base)); diff != "" {
		t.Error(diff)
	}
	spread := base
	spread.Input = Length{80, 120}
	b := generate(t, spread)
	for i := range a.Requests {
		if a.Requests[i].At != b.Requests[i].At || a.Requests[i].Output != b.Requests[i].Output {
			t.Fatalf("request %d changed with the spread of prompts", i)
		}
	}
	base.Seed = 4
	if cmp.Equal(a, generate(t, base)) {
		t.Error("another seed gives the same workload")
	}
}

// The horizon cuts; it does not shift.
func TestDurationCuts(t *testing.T) {
	s := Synthetic{Input: fixed(1), Output: fixed(1), Arrival: Arrival{Process: Poisson, Rate: 100, Variation: 1}, Requests: 1000}
	all := generate(t, s)
	s.Duration = 2 * time.Second
	cut := generate(t, s)
	n := len(cut.Requests)
	if diff := cmp.Diff(all.Requests[:n], cut.Requests); diff != "" || all.Requests[n].At < s.Duration {
		t.Errorf("cut after %d requests, the next at %v: %s", n, all.Requests[n].At, diff)
	}
}

func TestLengths(t *testing.T) {
	for in, want := range map[string]Length{"1024": {1024, 1024}, "1k": {1000, 1000}, "1000+-20%": {800, 1200}, "819..1024": {819, 1024}, "8+-0.5": {4, 12}} {
		if got, err := ParseLength(in); err != nil || got != want {
			t.Errorf("%s = %v, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", "0", "-1", "1.5", "5..4", "0..4", "..", "10+-100%", "10+-", "99999999999", "1024+-20"} {
		if l, err := ParseLength(bad); err == nil || !strings.Contains(err.Error(), "+-20%") {
			t.Errorf("%q = %v, %v", bad, l, err)
		}
	}
	seen := map[int]int{}
	rng := Stream(1, InputLengths)
	for range 30_000 {
		seen[Length{10, 12}.Draw(rng)]++
	}
	for n := 10; n <= 12; n++ {
		if math.Abs(float64(seen[n])-10_000) > 400 { // five standard deviations
			t.Errorf("%d drawn %d times of 30,000", n, seen[n])
		}
	}
	if len(seen) != 3 {
		t.Errorf("drawn %v from 10..12", seen)
	}
}

func TestBadProcesses(t *testing.T) {
	for _, bad := range []string{"", "gamma", "gamma:", "gamma:0", "gamma:NaN", "gamma:-1", "gamma:1e9", "poisson:2", "uniform"} {
		if a, err := ParseProcess(bad); err == nil || !strings.Contains(err.Error(), "gamma:2") {
			t.Errorf("%q = %v, %v", bad, a, err)
		}
	}
	ok := Synthetic{Input: fixed(1), Output: fixed(1), Arrival: Arrival{Rate: 1}, Requests: 1}
	for want, change := range map[string]func(s *Synthetic){
		"rate 0":        func(s *Synthetic) { s.Arrival.Rate = 0 },
		"rate NaN":      func(s *Synthetic) { s.Arrival.Rate = math.NaN() },
		"rate +Inf":     func(s *Synthetic) { s.Arrival.Rate = math.Inf(1) },
		"0 requests":    func(s *Synthetic) { s.Requests = 0 },
		"concurrency -": func(s *Synthetic) { s.Concurrency = -1 },
		"input length":  func(s *Synthetic) { s.Input = Length{} },
		"no request":    func(s *Synthetic) { s.Arrival = Arrival{Process: Poisson, Rate: 1e-6}; s.Duration = time.Nanosecond },
	} {
		s := ok
		change(&s)
		if w, err := s.Generate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v, %v", want, w, err)
		}
	}
}
