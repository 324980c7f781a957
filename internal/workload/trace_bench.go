package workload

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// benchLine is what only the records of an evaluation tell: which have a run.
type benchLine struct {
	Run       string  `json:"run"`
	Stage     int     `json:"stage"`
	Warmup    bool    `json:"warmup"`
	Started   float64 `json:"started_unix_seconds"` // of the worker's clock
	Generated int     `json:"generated_tokens"`
}

// endedRequest is a request of an evaluation, whose records are in the order in
// which requests ended.
type endedRequest struct {
	Request
	scheduled float64 // s since the start of its worker
	line      int
	benchLine
}

// benchRecord reads what an evaluation adds to a line of the records' format.
func benchRecord(line []byte, f *lineFormat) (l benchLine, err error) {
	if f.stamp == "scheduled_seconds" {
		err = json.Unmarshal(line, &l)
	}
	return l, err
}

// sorted adds the requests of an evaluation in the order in which they were due, on
// one clock of all its workers. Stages are loads of their own, one after another:
// only one of them makes a trace.
func (t *trace) sorted(list []endedRequest) error {
	if len(list) == 0 {
		return nil
	}
	if len(t.w.Requests) > 0 {
		return t.fail(list[0].line, "a run, unlike the lines above: give the records of one evaluation")
	}
	first := list[0]
	due := func(e endedRequest) float64 { return e.Started - first.Started + e.scheduled }
	for _, e := range list {
		switch {
		case e.Run == "":
			return t.fail(e.line, "no run, unlike the lines above: give the records of one evaluation")
		case e.Stage != first.Stage:
			return t.fail(e.line, "stage %d after stage %d: a trace is one stage: keep the lines of one, as with jq -c 'select(.stage == %d)'", e.Stage, first.Stage, first.Stage)
		}
	}
	slices.SortStableFunc(list, func(a, b endedRequest) int {
		switch x, y := due(a), due(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	start := due(list[0])
	for _, e := range list {
		since := due(e) - start
		if !(since <= maxSpan.Seconds()) {
			return t.fail(e.line, "scheduled_seconds %g lies more than %v from the first: give a trace of one clock", e.scheduled, maxSpan)
		}
		e.At = time.Duration(math.Round(since * 1e9))
		if err := t.add(e.line, e.Request); err != nil {
			return err
		}
	}
	return nil
}
