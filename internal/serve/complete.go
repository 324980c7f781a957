package serve

import (
	"slices"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// complete gives every sequence of the step that ends what it earned.
func (s *simulation) complete(in *instance) error {
	now := s.clock.Now()
	together := 0 // sequences whose latest token came as this step began
	given := 0    // tokens, to users
	gap := now - in.began
	for i, r := range in.ranks {
		for j := range in.current.items[i] {
			x := &in.current.items[i][j]
			seq := x.s
			if x.emit == 0 {
				continue
			}
			seq.pending -= x.emit
			if !in.prefill {
				switch {
				case seq.record.Generated == 0:
				case seq.latest == in.began:
					together++
				default:
					if err := s.watch.gaps(now-seq.latest, 1); err != nil {
						return err
					}
				}
				s.tokens(seq, x.emit, now)
				given += x.emit
			}
			seq.emitted += x.emit
			r.leaving = r.leaving || seq.ended()
		}
		s.flow.Prompt += readBy(in.current.items[i])
	}
	s.output(given, now)
	if together > 0 {
		if err := s.watch.gaps(gap, together); err != nil {
			return err
		}
	}
	for _, r := range in.ranks {
		if r.leaving {
			if err := s.leave(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// readBy is the prompt tokens of items, those read again after a preemption included.
func readBy(items []item) (n int64) {
	for i := range items {
		if !items[i].decode {
			n += int64(items[i].tokens)
		}
	}
	return n
}

// tokens gives n tokens to a sequence.
func (s *simulation) tokens(seq *sequence, n int, now time.Duration) {
	rec := seq.record
	if rec.Generated == 0 {
		rec.First = now
	}
	rec.Generated += n
	rec.Last = now
	seq.latest = now
	if s.gave != nil {
		s.gave(rec, n)
	}
	if s.options.Tokens {
		for range n {
			rec.Tokens = append(rec.Tokens, now)
		}
	}
}

// output counts tokens that users got.
func (s *simulation) output(n int, now time.Duration) {
	if n > 0 {
		s.flow.Output += int64(n)
		s.watch.timeline.tokens(now, n)
	}
}

// leave takes the sequences that have all their tokens out of a rank: they are
// done, or their KV cache goes to another instance.
func (s *simulation) leave(r *rank) error {
	var out []*sequence
	r.leaving = false
	r.running = slices.DeleteFunc(r.running, func(x *sequence) bool {
		if x.ended() {
			out = append(out, x)
		}
		return x.ended()
	})
	for _, x := range out {
		if r.in.prefill && x.record.Outcome != workload.Cancelled {
			s.flow.Moving++
			at := s.clock.Now() + max(s.service.Transfer(x.record.Input), 0)
			if err := s.clock.Put(at, first, event{kind: moves, seq: x}); err != nil {
				return err
			}
			continue
		}
		if err := s.done(r, x); err != nil {
			return err
		}
	}
	return nil
}

// done ends a request, one that was cancelled included.
func (s *simulation) done(r *rank, x *sequence) error {
	r.pool.release(&x.held, x.computed, false)
	r.load--
	x.record.Instance = r.in.number
	if x.record.Outcome == workload.Cancelled {
		s.flow.Cancelled++
	} else {
		x.record.Outcome = workload.Done
		s.flow.Done++
	}
	return s.answered(x.order)
}

// answered follows the end of request i: in a closed loop its user sends the
// next one. It comes after the step that starts at this instant: an engine
// starts its next step before an answer has reached the user.
func (s *simulation) answered(i int) error {
	s.watch.answered(s, i)
	if s.load.Concurrency == 0 {
		return nil
	}
	return s.issue(0)
}

// move is the arrival of a prompt's KV cache at the decode side. The user gets
// the first token now: what reads prompts holds the cache until then.
func (s *simulation) move(x *sequence) error {
	now, r := s.clock.Now(), x.rank
	s.flow.Moving--
	cancelled := x.record.Outcome == workload.Cancelled
	if !cancelled {
		s.tokens(x, 1, now)
		s.output(1, now)
	}
	if x.record.Output == 1 || cancelled {
		if err := s.done(r, x); err != nil {
			return err
		}
		return s.wake(r.in)
	}
	r.pool.release(&x.held, x.computed, false)
	r.load--
	if err := s.wake(r.in); err != nil {
		return err
	}
	next := &sequence{record: x.record, order: x.order, turn: x.turn, moved: true, started: true, quota: x.record.Output - 1, latest: now}
	s.assign(s.nextTurn.choose(), next)
	return s.enqueue(next)
}
