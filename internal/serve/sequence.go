package serve

import (
	"slices"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// sequence is a request inside a rank. Its text is the prompt and what it
// generated; the tokens that the step in flight will give count as known, since
// the device has them when the next step starts.
type sequence struct {
	record   *workload.Record
	order    int // of arrival
	turn     int // of arrival at a queue: a smaller number goes first
	priority int
	rank     *rank
	held     holding
	computed int           // tokens of its text whose KV is there, or will be after the step in flight
	pending  int           // tokens that the step in flight gives
	moved    bool          // its KV came, or is to come, from another instance
	started  bool          // it was in a step
	quota    int           // tokens to generate here: 1 where another instance goes on
	emitted  int           // tokens generated here
	latest   time.Duration // when the latest of them came
}

// text is the tokens known: prompt and generated ones.
func (s *sequence) text() int { return s.record.Input + s.record.Generated + s.pending }

// left is the tokens that are still to be generated here.
func (s *sequence) left() int { return s.quota - s.emitted - s.pending }

// ended tells that all tokens to be generated here have come.
func (s *sequence) ended() bool { return s.emitted == s.quota }

// generating tells that only the latest token of the text is left to run.
func (s *sequence) generating() bool { return s.computed > 0 && s.text()-s.computed == 1 }

// before orders the queue.
func (s *sequence) before(o *sequence) bool {
	if s.priority != o.priority {
		return s.priority < o.priority
	}
	return s.turn < o.turn
}

// queue is the waiting sequences of a rank, the first to go on top of a heap. A
// preempted sequence came before all that wait, so its place is the head.
type queue struct{ heap []*sequence }

// len is the number of sequences that wait.
func (q *queue) len() int { return len(q.heap) }

func (q *queue) push(s *sequence) {
	q.heap = append(q.heap, s)
	for i := len(q.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !q.heap[i].before(q.heap[parent]) {
			return
		}
		q.heap[i], q.heap[parent] = q.heap[parent], q.heap[i]
		i = parent
	}
}

// first is the next to go, nil where none waits.
func (q *queue) first() *sequence {
	if len(q.heap) == 0 {
		return nil
	}
	return q.heap[0]
}

// remove takes the sequence of a record out and returns it, nil where it does
// not wait.
func (q *queue) remove(r *workload.Record) *sequence {
	at := slices.IndexFunc(q.heap, func(s *sequence) bool { return s.record == r })
	if at < 0 {
		return nil
	}
	s := q.heap[at]
	rest := slices.Delete(q.heap, at, at+1)
	q.heap = q.heap[:0]
	for _, o := range rest {
		q.push(o)
	}
	return s
}

// pop removes the top of the heap.
func (q *queue) pop() {
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap[last] = nil
	q.heap = q.heap[:last]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < last; c++ {
			if q.heap[c].before(q.heap[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}
