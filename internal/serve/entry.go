package serve

import (
	"math"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// newcomer is a request that the scheduler has not looked at: front ends and
// schedulers exchange requests once per step or more rarely, see
// infer.Profile.Admission.
type newcomer struct {
	seq   *sequence
	steps int  // that still end before it joins the queue
	came  bool // before the step in flight
}

// entry is how long a request of so many prompt tokens takes to the queue. Profiles state the
// mean; no run states how it spreads. Where users do not march in step it is drawn as an
// exponential time, which is the response time of a front end that requests reach at random
// and pass one by one (M/M/1), and the widest that a mean alone allows (maximum entropy):
// were it the same for all, equal users who are once read together would come back together
// for ever. Tokenising takes its time by the prompt.
func (s *simulation) entry(e *Engine, prompt int) time.Duration {
	way := e.Entry
	if !s.inStep {
		way = time.Duration(s.ways.ExpFloat64() * float64(e.Entry))
	}
	return way + time.Duration(prompt)*e.EntryToken
}

// inStep tells that the users of the load march in step: those of equal requests do so where
// the engine reads prompts before it generates on, see Ramp.
func (s *Service) inStep(load *workload.Workload) bool {
	e, _ := s.Generating()
	return e.Separate && load.Concurrency > 0 && load.Alike()
}

// enqueue puts a sequence that is new on a rank into its queue: at once on an idle
// instance, else after the steps that pass before the engine sees it. Sequences
// whose KV cache came from elsewhere are seen at once, and so are those of
// instances that only read prompts: no generation keeps their scheduler busy.
func (s *simulation) enqueue(seq *sequence) error {
	r := seq.rank
	if !seq.moved {
		seq.turn, s.turns = s.turns, s.turns+1
	}
	if seq.moved || r.in.prefill || !r.in.stepping || r.in.current.size == 0 {
		return s.join(seq)
	}
	n := r.held()
	if n == 0 {
		return s.join(seq)
	}
	r.newcomers = append(r.newcomers, newcomer{seq: seq, steps: n + 1}) // the rest of the step in flight, and n
	return nil
}

// held is how many whole steps the rank holds its next newcomer. A plan made ahead
// takes one of Admission's already; what is left of a step is carried over. Beside n others it
// is n/(n+1) of Admission, the share that the closed form fits it with: a lone one waits for nobody.
func (r *rank) held() int {
	others := 0.0
	for _, o := range r.in.ranks {
		others += float64(len(o.running))
	}
	left := r.engine.Admission * others / (others + 1)
	if r.engine.Ahead {
		left--
	}
	r.carried += max(left, 0)
	n := math.Floor(r.carried)
	r.carried -= n
	return int(n)
}

// join puts a sequence into its rank's queue and starts the instance where it is
// idle. One that was cancelled on its way goes no further.
func (s *simulation) join(seq *sequence) error {
	if seq.record.Outcome == workload.Cancelled {
		return s.done(seq.rank, seq)
	}
	seq.rank.waiting.push(seq)
	return s.wake(seq.rank.in)
}

// see lets newcomers join their queues as a step ends, all of them where idle. On one replica those
// steps count that generate, beside the one in which they came, as in the closed form that Admission
// was fitted with: prompts read between two of them lengthen the first.
func (s *simulation) see(in *instance, idle bool) error {
	for _, r := range in.ranks {
		left := r.newcomers[:0]
		for _, x := range r.newcomers {
			if !x.came || in.current.batch.Decode > 0 || len(in.ranks) > 1 {
				x.came = true
				x.steps--
			}
			if x.steps > 0 && !idle {
				left = append(left, x)
				continue
			}
			if err := s.join(x.seq); err != nil {
				return err
			}
		}
		clear(r.newcomers[len(left):])
		r.newcomers = left
	}
	return nil
}
