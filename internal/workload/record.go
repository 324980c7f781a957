package workload

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"time"
)

// Outcome is what became of a request.
type Outcome uint8

// The outcomes. Unfinished requests were queued or running when the run was cut,
// dropped ones were never taken, cancelled ones lost their user underway.
const (
	Done Outcome = iota
	Unfinished
	Dropped
	Cancelled
)

var outcomeNames = [...]string{"done", "unfinished", "dropped", "cancelled"}

// String is the outcome's name in files.
func (o Outcome) String() string { return outcomeNames[o] }

// Record is one request's life. Times run from the start of the run on one
// monotonic clock; those of events that did not happen are 0, which Outcome and
// Output tell apart from the start itself.
type Record struct {
	Request   // as asked
	Outcome   Outcome
	Reason    string // why it was dropped
	Generated int    // tokens produced
	Cached    int    // prompt tokens found in the prefix cache when it first ran
	Preempted int    // times it lost its KV cache
	Instance  int    // that generated its tokens

	Scheduled Timestamp // when it was to be sent
	Queued    Timestamp // when the service had it
	Started   Timestamp // when it first entered a step
	First     Timestamp // first token
	Last      Timestamp // last token
	// Tokens is the time of every token, only where asked for.
	Tokens []Timestamp
}

// Timestamp is a time from the start of a run.
type Timestamp = time.Duration

// TTFT is the time from the service having the request to its first token; ok
// is false before that.
func (r *Record) TTFT() (d time.Duration, ok bool) { return r.First - r.Queued, r.Generated > 0 }

// TPOT is the mean time of a token after the first; ok is false for requests
// that are not done or have no second token.
func (r *Record) TPOT() (d time.Duration, ok bool) {
	if r.Outcome != Done || r.Generated < 2 {
		return 0, false
	}
	return (r.Last - r.First) / time.Duration(r.Generated-1), true
}

// E2E is the time from the service having the request to its last token.
func (r *Record) E2E() (d time.Duration, ok bool) { return r.Last - r.Queued, r.Outcome == Done }

// Queueing is the time until the request first entered a step.
func (r *Record) Queueing() (d time.Duration, ok bool) { return r.Started - r.Queued, r.Generated > 0 }

// recordLine is a record in a file, times in seconds.
type recordLine struct {
	ID        string    `json:"id"`
	Outcome   string    `json:"outcome"`
	Reason    string    `json:"reason,omitempty"`
	Input     int       `json:"input_tokens"`
	Output    int       `json:"output_tokens"`
	Generated int       `json:"generated_tokens"`
	Cached    int       `json:"cached_tokens"`
	Preempted int       `json:"preempted"`
	Priority  int       `json:"priority"`
	Instance  int       `json:"instance"`
	Scheduled float64   `json:"scheduled_seconds"`
	Queued    float64   `json:"queued_seconds"`
	Started   *float64  `json:"started_seconds"`
	First     *float64  `json:"first_token_seconds"`
	Last      *float64  `json:"last_token_seconds"`
	Tokens    []float64 `json:"token_seconds,omitempty"`
}

// WriteRecords writes one JSON object per line, in the order given. Times that
// did not come are null.
func WriteRecords(w io.Writer, records []Record) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for i := range records {
		r := &records[i]
		line := recordLine{ID: r.ID, Outcome: r.Outcome.String(), Reason: r.Reason, Input: r.Input, Output: r.Output,
			Generated: r.Generated, Cached: r.Cached, Preempted: r.Preempted, Priority: r.Priority, Instance: r.Instance,
			Scheduled: r.Scheduled.Seconds(), Queued: r.Queued.Seconds(),
			Started: reached(r.Started, r.Generated > 0), First: reached(r.First, r.Generated > 0), Last: reached(r.Last, r.Outcome == Done)}
		if line.ID == "" {
			line.ID = strconv.Itoa(i)
		}
		for _, t := range r.Tokens {
			line.Tokens = append(line.Tokens, t.Seconds())
		}
		if err := e.Encode(&line); err != nil {
			return err
		}
	}
	return b.Flush()
}

func reached(t Timestamp, ok bool) *float64 {
	if !ok {
		return nil
	}
	s := t.Seconds()
	return &s
}
