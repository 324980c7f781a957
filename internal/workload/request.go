// Package workload describes what a service is asked: when requests arrive, how
// long they are, and the record of what became of each.
//
// Arrival processes and lengths are pure functions of their parameters and a
// seeded stream of random numbers; traces are read strictly: a line that is not
// understood is an error that names it, and then nothing was read. The record is
// the same whoever emits it, the simulator or a client of a real service, so
// that the two can be compared line by line. It knows no engine and no clock.
package workload

import (
	"slices"
	"time"
)

// Request is one request of a workload.
type Request struct {
	ID       string        // as the trace names it; "" = its number
	At       time.Duration // arrival, from the start; ignored in a closed loop
	Input    int           // prompt tokens, at least 1
	Output   int           // tokens to generate, at least 1
	Line     int           // of the trace's file, from 1; 0 = drawn
	Priority int           // under a priority policy; which goes first is the engine's
	// Blocks identify the content of the prompt in blocks of Workload.BlockTokens
	// tokens: equal ids at the same place after equal ids are equal tokens. The
	// last block may be partial. nil: the prompt shares nothing.
	Blocks []uint64
}

// Workload is requests in order of arrival, and how they arrive.
type Workload struct {
	Name        string // for reports
	Requests    []Request
	BlockTokens int // tokens per id of Request.Blocks, 0 without ids
	// Concurrency above 0 makes a closed loop: so many users, each of whom sends
	// the next request when the last one is answered. 0: requests arrive at At.
	Concurrency int
	// Ramp is the time over which the users of a closed loop come, each at a moment of
	// its own drawn from it; 0 = all at once.
	Ramp time.Duration
	Rate float64 // nominal requests per second of an open process, 0 = as the trace says
	// Variation is the coefficient of variation of the gaps, 0 for a constant rate.
	Variation float64
}

// Alike tells whether all requests have the same lengths.
func (w *Workload) Alike() bool {
	return !slices.ContainsFunc(w.Requests, func(r Request) bool {
		return r.Input != w.Requests[0].Input || r.Output != w.Requests[0].Output
	})
}

// Span is the time from the start to the last arrival of an open workload.
func (w *Workload) Span() time.Duration {
	if len(w.Requests) == 0 {
		return 0
	}
	return w.Requests[len(w.Requests)-1].At
}

// Limits beyond which a figure is a mistake of the file or the command line.
const (
	MaxTokens   = 1 << 24 // of one prompt or answer
	MaxRequests = 10_000_000
)
