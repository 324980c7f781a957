package ask

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Requests sent where the user names no number.
const (
	openRequests = 1000
	perUser      = 10 // of a closed loop, as published closed-loop runs do
	leastClosed  = 200
)

// load is the workload that the flags describe.
func (f *Simulate) load(find Finder) (*workload.Workload, error) {
	given := f.Flags.Changed
	most := cmp.Or(f.Most, workload.MaxRequests)
	duration, err := serve.Nanoseconds(f.duration)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--duration: %w", err)
	case given("duration") && duration == 0:
		return nil, fmt.Errorf("--duration 0: give a time above 0, such as 10min")
	case given("requests") && (f.requests < 1 || f.requests > int64(most)):
		return nil, fmt.Errorf("--requests %d: give 1 to %d", f.requests, most)
	case given("concurrency") && (f.concurrency < 1 || f.concurrency > int64(most)):
		return nil, fmt.Errorf("--concurrency %d: give 1 to %d users", f.concurrency, most)
	case given("rate") && (given("trace") || given("concurrency")) || !given("rate") && !given("trace") && !given("concurrency"):
		return nil, fmt.Errorf("simulate needs one load: --trace FILE, --rate R or --concurrency N")
	case given("arrival") && !given("rate"):
		return nil, fmt.Errorf("--arrival needs --rate: a trace and a closed loop say when requests come")
	case given("duration") && given("concurrency"):
		return nil, fmt.Errorf("--duration cuts the arrivals of a rate or trace: give --requests in a closed loop")
	case given("trace") && (given("isl") || given("osl")):
		return nil, fmt.Errorf("--isl and --osl: the trace has its own lengths, leave them out")
	case given("requests") && given("duration"):
		return nil, fmt.Errorf("--requests and --duration both end the load: give one of them")
	case given("slo-at") && !given("slo"):
		return nil, fmt.Errorf("--slo-at says what an objective holds for: give --slo, too")
	case given("trace"):
		return f.replayed(find, duration)
	}
	if err := Required(f.Flags, "isl", "osl"); err != nil {
		return nil, err
	}
	s := &workload.Synthetic{Input: f.isl, Output: f.osl, Concurrency: int(f.concurrency), Requests: int(f.requests), Duration: duration, Seed: uint64(f.seed)}
	if given("rate") {
		if s.Arrival = f.arrival; !given("arrival") {
			s.Arrival = workload.Arrival{Process: workload.Poisson, Variation: 1}
		}
		s.Arrival.Rate = f.rate
	}
	if !given("requests") {
		switch {
		case given("concurrency"):
			s.Requests = min(max(perUser*s.Concurrency, leastClosed), most)
		case given("duration"):
			s.Requests = most
		default:
			s.Requests = openRequests
		}
	}
	return s.Generate()
}

// replayed reads the trace and cuts it as asked.
func (f *Simulate) replayed(find Finder, duration time.Duration) (*workload.Workload, error) {
	w, err := find.Trace(f.trace)
	if err != nil {
		return nil, fmt.Errorf("--trace: %w", err)
	}
	if n := int(f.requests); n > len(w.Requests) {
		return nil, fmt.Errorf("--requests %d: the trace holds %d, give at most that", n, len(w.Requests))
	} else if n > 0 {
		w.Requests = w.Requests[:n]
	}
	if duration > 0 {
		n := 0
		for n < len(w.Requests) && w.Requests[n].At < duration {
			n++
		}
		w.Requests = w.Requests[:n]
	}
	w.Concurrency = int(f.concurrency)
	return w, nil
}
