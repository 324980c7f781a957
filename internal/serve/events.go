package serve

import (
	"github.com/ridgeline/ridgeline/internal/workload"
)

func (s *simulation) handle(e event) error {
	switch e.kind {
	case arrives:
		return s.arrive()
	case comes:
		return s.accept(e.seq.record, e.seq.order)
	case ends:
		return s.end(e.in)
	case enters:
		s.flow.Moving--
		return s.enqueue(e.seq)
	default:
		return s.move(e.seq)
	}
}

// arrive takes the next request of the workload in.
func (s *simulation) arrive() error {
	i := s.flow.Arrived
	s.records[i] = workload.Record{Request: s.load.Requests[i]}
	return s.accept(&s.records[i], i)
}

// accept takes in the request of rec, the i-th to arrive.
func (s *simulation) accept(rec *workload.Record, i int) error {
	now := s.clock.Now()
	s.flow.Arrived++
	rec.Outcome, rec.Scheduled, rec.Queued = workload.Unfinished, now, now
	s.watch.arrival(s)
	if s.load.Concurrency == 0 {
		if err := s.issue(0); err != nil {
			return err
		}
	}
	reason := s.service.Engine.refuses(&rec.Request)
	if d := s.service.Decode; reason == "" && d != nil {
		reason = d.refuses(&rec.Request)
	}
	if reason != "" {
		rec.Outcome, rec.Reason = workload.Dropped, reason
		s.flow.Dropped++
		return s.answered(i)
	}
	r := s.readTurn.choose()
	seq := &sequence{record: rec, order: i, rank: r, quota: rec.Output}
	if r.in.prefill {
		seq.quota = 1
	}
	s.assign(r, seq)
	entry := s.entry(r.engine, rec.Request.Input)
	if entry == 0 {
		return s.enqueue(seq)
	}
	s.flow.Moving++
	return s.clock.Put(now+entry, first, event{kind: enters, seq: seq})
}

// assign gives a sequence to a rank.
func (s *simulation) assign(r *rank, seq *sequence) {
	seq.rank = r
	if r.engine.Priority {
		if seq.priority = seq.record.Priority; r.engine.HigherFirst {
			seq.priority = -seq.priority
		}
	}
	r.load++
}

// wake starts an idle instance when all that happens now has happened.
func (s *simulation) wake(in *instance) error {
	if in.stepping {
		return nil
	}
	in.stepping = true
	in.current.size = 0
	in.began = s.clock.Now()
	return s.clock.Put(s.clock.Now(), second, event{kind: ends, in: in})
}

// end is the end of the instance's current step, or its awakening: tokens come,
// and the next step starts.
func (s *simulation) end(in *instance) error {
	if in.current.size > 0 {
		if err := s.complete(in); err != nil {
			return err
		}
		if err := s.see(in, false); err != nil {
			return err
		}
	}
	if !in.next() {
		if err := s.see(in, true); err != nil {
			return err
		}
		if !in.next() {
			in.stepping = false
			return nil
		}
	}
	d, err := in.price()
	if err != nil {
		return err
	}
	now := s.clock.Now()
	for _, items := range in.current.items {
		for i := range items {
			if x := items[i].s; !x.started {
				x.started = true
				x.record.Started = now
			}
		}
	}
	s.watch.begin(&s.flow, in, now, d)
	in.began = now
	if in.engine.Ahead {
		in.plan(in.ahead)
	}
	return s.clock.Put(now+d, second, event{kind: ends, in: in})
}
