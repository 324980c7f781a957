package serve

import (
	"fmt"
	"math"
	"time"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// step is the batch of one step, over the ranks of an instance.
type step struct {
	items [][]item // per rank
	batch infer.Batch
	size  int // sequences
}

// instance is one engine: ranks that step together.
type instance struct {
	number  int
	engine  *Engine
	ranks   []*rank
	prefill bool // it only reads prompts; another kind generates
	// current is in flight while stepping; ahead is planned behind it, where the
	// engine plans ahead.
	current, ahead *step
	short          bool // a prompt lost its blocks: the next step generates, see plan
	stepping       bool
	began          time.Duration // of current
}

// plan fills s with what the ranks would run next. Ranks of engines that do not mix read
// prompts while they have any, and generate beside others that read; where they draft, they
// are idle meanwhile (SGLang's get_next_batch_to_run and prepare_mlp_sync_batch). Those whose
// caches are too full for a prompt generate before it is read again: two that took turns at that would
// keep all from generating for ever.
func (in *instance) plan(s *step) {
	switch {
	case !in.engine.Separate:
		in.fill(s, mixed)
	case in.engine.Speculation == nil:
		in.fill(s, prompts, generation)
	default:
		first, then := prompts, generation
		if in.short {
			first, then = then, first
		}
		in.short = false
		if in.fill(s, first); s.size == 0 {
			in.fill(s, then)
		}
	}
	if s.batch.Decode > 0 && in.engine.Speculation != nil {
		s.batch.Draft = in.engine.Speculation.Drafts
	}
}

// fill plans a step on every rank, of the first kind for which it has something to run.
func (in *instance) fill(s *step, kinds ...stepKind) {
	s.batch, s.size = infer.Batch{}, 0
	for i, r := range in.ranks {
		for _, kind := range kinds {
			if s.items[i] = r.plan(s.items[i], &s.batch, kind); len(s.items[i]) > 0 {
				break
			}
		}
		s.size += len(s.items[i])
	}
}

// next makes current the step that is to run: the one planned ahead or, where
// that is empty, a fresh one. It is false where there is nothing to run.
func (in *instance) next() bool {
	in.current, in.ahead = in.ahead, in.current
	if in.current.size == 0 {
		in.plan(in.current)
	}
	in.ahead.size = 0
	return in.current.size > 0
}

// price is the time of the current step, at least a nanosecond so that time goes on.
func (in *instance) price() (time.Duration, error) {
	t := in.engine.Stepper.Step(&in.current.batch).Total
	d, err := Nanoseconds(t)
	if err != nil {
		return 0, fmt.Errorf("step of %d generating sequences and %d prompt tokens: %w", in.current.batch.Decode, in.current.batch.Prefill, err)
	}
	return max(d, 1), nil
}

// Nanoseconds rounds a time to the clock's. What the clock cannot hold, NaN and
// negative times are errors.
func Nanoseconds(t unit.Seconds) (time.Duration, error) {
	ns := math.Round(float64(t) * 1e9)
	if !(ns >= 0 && ns < math.MaxInt64/4) {
		return 0, fmt.Errorf("a time of %s does not fit the clock: give at most %s", unit.FormatSeconds(t), unit.FormatSeconds(unit.Seconds(math.MaxInt64/4/1e9)))
	}
	return time.Duration(ns), nil
}

// waiting counts the sequences in the ranks' queues and before them.
func (in *instance) waiting() (n int) {
	for _, r := range in.ranks {
		n += r.waiting.len() + len(r.newcomers)
	}
	return n
}

// kv is the blocks held and those there are.
func (in *instance) kv() (used, capacity int) {
	for _, r := range in.ranks {
		used, capacity = used+r.pool.used(), capacity+r.pool.capacity
	}
	return used, capacity
}
