package workload

import (
	"fmt"
	"time"
)

// Synthetic is a workload made from distributions.
type Synthetic struct {
	Input, Output Length
	Arrival       Arrival // of an open workload, where Concurrency is 0
	Concurrency   int     // users of a closed loop
	Requests      int     // how many at most
	// Duration stops the arrivals of an open workload; 0 = when Requests have come.
	Duration time.Duration
	Seed     uint64
}

// Generate draws the requests. The same Synthetic gives the same ones.
func (s *Synthetic) Generate() (*Workload, error) {
	for name, l := range map[string]Length{"input": s.Input, "output": s.Output} {
		if l.Low < 1 || l.High < l.Low || l.High > MaxTokens {
			return nil, fmt.Errorf("%s length %v: give tokens from 1 to %d", name, l, MaxTokens)
		}
	}
	switch {
	case s.Requests < 1 || s.Requests > MaxRequests:
		return nil, fmt.Errorf("%d requests: give 1 to %d", s.Requests, MaxRequests)
	case s.Concurrency < 0:
		return nil, fmt.Errorf("concurrency %d: give at least 1", s.Concurrency)
	case s.Duration < 0:
		return nil, fmt.Errorf("duration %v: give a time above 0", s.Duration)
	}
	w := &Workload{Name: fmt.Sprintf("%v input and %v output tokens", s.Input, s.Output), Concurrency: s.Concurrency}
	n := s.Requests
	var times []time.Duration
	if s.Concurrency == 0 {
		if err := s.Arrival.Check(); err != nil {
			return nil, err
		}
		times = s.Arrival.Times(n, s.Duration, Stream(s.Seed, Arrivals))
		switch missing := len(times) < n && s.Duration == 0; {
		case missing:
			return nil, fmt.Errorf("%d requests at %g per second last longer than the %.0f years of the clock: give fewer or a higher rate", n, s.Arrival.Rate, clockYears)
		case len(times) == 0:
			return nil, fmt.Errorf("no request arrives within %v at %g per second: give a longer duration or a higher rate", s.Duration, s.Arrival.Rate)
		}
		n = len(times)
		w.Rate, w.Variation = s.Arrival.Rate, s.Arrival.Variation
	}
	input, output := Stream(s.Seed, InputLengths), Stream(s.Seed, OutputLengths)
	w.Requests = make([]Request, n)
	for i := range w.Requests {
		r := &w.Requests[i]
		r.Input, r.Output = s.Input.Draw(input), s.Output.Draw(output)
		if times != nil {
			r.At = times[i]
		}
	}
	return w, nil
}
