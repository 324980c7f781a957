package bench

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// turn is one question of a session.
type turn struct {
	input, output int      // tokens; 0 = not known, as many as the model likes
	text          string   // of a dialogue, "" = made to the length
	blocks        []uint64 // content of a trace's prompt, nil = its own
	blockTokens   int
	priority      int
}

// task is one session: its turns are asked one after another. number is that of
// its first turn within the stage.
type task struct {
	number int
	turns  []turn
}

// source hands out a stage's tasks, within its bounds. It is safe for many
// goroutines.
type source struct {
	mu       sync.Mutex
	draw     func(i int) []turn // the i-th session
	sessions int                // handed out
	requests int                // turns handed out
	warmup   int
	most     int           // requests at most, warm-up included, that of a time as far as it has come; 0 = no bound
	last     int           // sessions at most, 0 = no bound
	duration time.Duration // of the measured part, 0 = no bound
	warmTime time.Duration
	now      func() time.Duration // since the stage's start
	began    bool                 // a measured request was handed out
	measured time.Duration        // when the first one was
}

// next is the next task; ok is false when the stage is over.
func (s *source) next() (t task, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.most - s.requests
	switch {
	case s.most > 0 && left <= 0, s.last > 0 && s.sessions >= s.last:
		return t, false
	case s.duration > 0 && s.began && s.now() >= s.measured+s.duration:
		return t, false
	}
	turns := s.draw(s.sessions)
	if s.most > 0 && len(turns) > left {
		turns = turns[:left]
	}
	t = task{number: s.requests, turns: turns}
	s.sessions++
	s.requests += len(turns)
	if s.most > 0 && s.now() < s.warmTime {
		s.most += len(turns)
	}
	if !s.began && s.requests > s.warmup && s.now() >= s.warmTime {
		s.began, s.measured = true, s.now()
	}
	return t, true
}

// draws makes the sessions of a stage from lengths, the trace or the dialogues.
func (c *Config) draws(seed uint64) func(i int) []turn {
	switch {
	case c.Dialogues != nil:
		return func(i int) []turn { return c.Dialogues[i%len(c.Dialogues)].turns(c.Turns) }
	case c.Trace != nil:
		return func(i int) []turn {
			q := &c.Trace.Requests[i%len(c.Trace.Requests)]
			return []turn{{input: q.Input, output: q.Output, blocks: q.Blocks, blockTokens: c.Trace.BlockTokens, priority: q.Priority}}
		}
	}
	in, out := workload.Stream(seed, workload.InputLengths), workload.Stream(seed, workload.OutputLengths)
	return func(int) []turn {
		list := make([]turn, c.Turns)
		for i := range list {
			list[i] = turn{input: c.Input.Draw(in), output: drawn(c.Output, out)}
		}
		return list
	}
}

// turnsOf is how many turns the i-th session has.
func (c *Config) turnsOf(i int) int {
	switch {
	case c.Dialogues != nil:
		return min(c.Turns, len(c.Dialogues[i%len(c.Dialogues)].Questions))
	case c.Trace != nil:
		return 1
	}
	return c.Turns
}

// drawn is 0 for an output length that is left to the model.
func drawn(l workload.Length, rng *rand.Rand) int {
	if l.High == 0 {
		return 0
	}
	return l.Draw(rng)
}
