package sched

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

// TestTrace reads a trace back: a named row per rank and every pass with its
// times in microseconds.
func TestTrace(t *testing.T) {
	l, err := Lay(Uniform(DualPipe, 4, 8, 1, 0.001, 0.001, 0.001, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Trace(l, &b); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		TraceEvents []event `json:"traceEvents"`
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	next, rows := make([]int, 4), 0
	for _, e := range doc.TraceEvents {
		if e.Phase == "M" {
			if e.Name == "thread_name" {
				rows++
			}
			continue
		}
		x := l.Ranks[e.TID][next[e.TID]]
		next[e.TID]++
		if e.Cat != x.Pass.String() || e.TS != micros(x.Start) || e.Dur != micros(x.End-x.Start) ||
			e.Args["microbatch"] != float64(x.MicroBatch) || e.Args["chunk"] != float64(x.Chunk) {
			t.Fatalf("event %+v, pass %+v", e, x)
		}
	}
	for r, n := range next {
		if n != len(l.Ranks[r]) {
			t.Errorf("rank %d: %d events for %d passes", r, n, len(l.Ranks[r]))
		}
	}
	if rows != 4 {
		t.Errorf("%d rows are named, want 4", rows)
	}
	for _, name := range []string{`"F0"`, `"W3"`, `"F3B5"`} { // rank 0 of the drawing of dualpipe
		if !bytes.Contains(b.Bytes(), []byte(name)) {
			t.Errorf("no event is called %s", name)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk is full") }

func TestTraceWriteFails(t *testing.T) {
	l, err := Lay(Uniform(OneFOneB, 2, 2, 1, 1, 1, 1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := Trace(l, full{}); err == nil {
		t.Error("a failed write is not reported")
	}
}
