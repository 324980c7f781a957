// Package des is the kernel of discrete-event simulation: a clock in whole
// nanoseconds and a queue of events in a total order. It knows nothing of
// engines, requests or machines, starts no goroutine and never looks at the
// wall clock, so that a run is a function of what is put into it.
//
// Events are plain values of the simulation's own type, not callbacks: whoever
// runs the loop decides what an event means, and nothing is allocated per event.
package des

import (
	"fmt"
	"time"
)

// Queue holds events of type E until their time comes. The zero Queue is empty
// and its clock stands at 0.
//
// The order is (time, priority, sequence): of events at the same nanosecond the
// lower priority goes first, and of equal priorities the one put in first.
type Queue[E any] struct {
	heap []entry[E]
	now  time.Duration
	next uint64 // sequence number of the next event put in
}

type entry[E any] struct {
	at       time.Duration
	priority int
	sequence uint64
	event    E
}

func (a *entry[E]) before(b *entry[E]) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.priority != b.priority:
		return a.priority < b.priority
	}
	return a.sequence < b.sequence
}

// Now is the clock: the time of the event taken last.
func (q *Queue[E]) Now() time.Duration { return q.now }

// Next is the time of the first event; ok is false where none waits.
func (q *Queue[E]) Next() (at time.Duration, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// Put adds an event at a time of the clock. A time that is past is an error and
// leaves the queue as it was: the clock never goes back.
func (q *Queue[E]) Put(at time.Duration, priority int, event E) error {
	if at < q.now {
		return fmt.Errorf("event at %v lies before the clock at %v: events may only be put at or after it", at, q.now)
	}
	q.heap = append(q.heap, entry[E]{at, priority, q.next, event})
	q.next++
	q.up(len(q.heap) - 1)
	return nil
}

// Take removes the first event and moves the clock to its time; ok is false
// where none waits, and the clock then stays.
func (q *Queue[E]) Take() (event E, ok bool) {
	if len(q.heap) == 0 {
		return event, false
	}
	first := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap[last] = entry[E]{} // let go of what the event points to
	q.heap = q.heap[:last]
	q.down(0)
	q.now = first.at
	return first.event, true
}

// up and down restore the heap's order from position i towards the root and the leaves.
//
// Note: container/heap would box every event in an interface, which is an
// allocation per event.
func (q *Queue[E]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.heap[i].before(&q.heap[parent]) {
			return
		}
		q.heap[i], q.heap[parent] = q.heap[parent], q.heap[i]
		i = parent
	}
}

func (q *Queue[E]) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(q.heap); child++ {
			if q.heap[child].before(&q.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}
