// Package serve simulates a serving engine under load: requests arrive, wait,
// are read in chunks and generate tokens in steps that they share, on one
// instance or many. What a step costs is asked of package infer; what arrives is
// package workload's; this package only decides who runs, event by event on a
// clock of whole nanoseconds, so that the same input gives the same records.
//
// Scheduling follows vLLM's V1 scheduler: requests that run go first, in the
// order they were admitted, one token each or the next chunk of their prompt;
// then waiting ones are admitted while sequences, tokens and KV blocks last.
// Where blocks run out the request that came last loses its cache, goes back to
// the head of the queue and is read again.
//
// The closed form for the steady state is package infer's. The two are two views
// of one price: a test holds them together where queueing is rare, and where it
// is not the simulation says so instead of stating a tail.
package serve

import (
	"fmt"
	"time"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Engine is how one instance schedules. Every limit is that of one rank: a DP
// attention replica with a queue and a KV cache of its own.
type Engine struct {
	Stepper infer.Stepper // prices the steps of all ranks together
	// Ranks step together: a step lasts as long as the batch of all of them takes,
	// shared evenly. 0 = 1.
	Ranks     int
	MaxSeqs   int // sequences in a step (max_num_seqs)
	MaxTokens int // tokens of a step, prompts and generated (max_num_batched_tokens)
	BlockSize int // tokens per KV block
	Blocks    int // KV blocks
	// MaxContext is the longest prompt with its answer, 0 = as the blocks allow.
	MaxContext int
	// PrefixCache keeps the blocks of prompts until their room is needed, the least
	// recently used go first.
	PrefixCache bool
	// Reserve is what of a request must fit the blocks that are free, and not set aside for
	// others, before it is admitted.
	Reserve infer.Reservation
	// Priority orders the queue, and whom to preempt, by Request.Priority before
	// arrival.
	Priority bool
	// HigherFirst serves larger priorities first, as SGLang and TensorRT-LLM do; else
	// smaller ones go first, as in vLLM.
	HigherFirst bool
	// Ahead fixes each step's batch when the step before it starts, so that the
	// scheduler hides behind the device (async_scheduling); arrivals then wait for
	// one step more.
	Ahead bool
	// Separate reads prompts in steps of their own, before sequences generate on
	// (SGLang without mixed chunks).
	Separate bool
	// Entry is from a request's arrival to its place in the queue: HTTP, a mean about which
	// requests differ, and EntryToken for each token of the prompt, tokenising.
	Entry, EntryToken time.Duration
	// Admission is the steps of others that end before a request which meets a busy
	// engine may run, beside the one in flight; with Ahead the planned one is among them. See
	// infer.Profile.Admission. Fractions hold over several requests.
	Admission float64
	// Speculation drafts tokens for sequences that generate; nil = none.
	Speculation *infer.Speculation
}

// maxAdmission bounds Engine.Admission in steps.
const maxAdmission = 1e6

// Routing chooses who gets a request.
type Routing uint8

// RoundRobin goes over all ranks of all instances in turn; LeastLoaded takes the
// rank with the fewest requests, the first of equals.
const (
	RoundRobin Routing = iota
	LeastLoaded
)

// Service is instances side by side behind one router.
type Service struct {
	Engine    Engine
	Instances int // 0 = 1
	Routing   Routing
	// Decode is given for a disaggregated service: Engine then only reads prompts,
	// Decode generates, and Transfer moves a prompt's KV cache between them.
	Decode          *Engine
	DecodeInstances int                                  // 0 = 1
	Transfer        func(promptTokens int) time.Duration // of Decode; nil = at once
}

// Longest is the most tokens of a request with its answer that a replica's cache holds.
func (s *Service) Longest() int64 {
	most := int64(s.Engine.Blocks) * int64(s.Engine.BlockSize)
	if d := s.Decode; d != nil {
		most = min(most, int64(d.Blocks)*int64(d.BlockSize))
	}
	return most
}

// check completes the engine's zero values and says what is wrong with it.
func (e *Engine) check(blockTokens int) error {
	e.Ranks = max(e.Ranks, 1)
	drafts := 0
	if e.Speculation != nil {
		if err := e.Speculation.Check(); err != nil {
			return err
		}
		drafts = e.Speculation.Drafts
	}
	switch {
	case e.Stepper == nil:
		return fmt.Errorf("the engine has no prices of steps")
	case e.MaxSeqs < 1:
		return fmt.Errorf("max-num-seqs %d: give at least 1", e.MaxSeqs)
	case e.MaxTokens < e.MaxSeqs*(1+drafts):
		return fmt.Errorf("max-num-batched-tokens %d is less than %d sequences with %d tokens each take: raise it or lower max-num-seqs", e.MaxTokens, e.MaxSeqs, 1+drafts)
	case e.BlockSize < 1:
		return fmt.Errorf("block-size %d: give at least 1 token", e.BlockSize)
	case e.Blocks < 1:
		return fmt.Errorf("the KV cache holds no block of %d tokens: lower block-size, or use more memory for the cache", e.BlockSize)
	case !(e.Admission >= 0 && e.Admission < maxAdmission):
		return fmt.Errorf("admission after %g steps: give 0 or more", e.Admission)
	case min(e.Entry, e.EntryToken) < 0:
		return fmt.Errorf("entry time %v and %v a token: give 0 or more", e.Entry, e.EntryToken)
	case e.PrefixCache && blockTokens%e.BlockSize != 0:
		return fmt.Errorf("block-size %d does not divide the trace's blocks of %d tokens: give a divisor", e.BlockSize, blockTokens)
	}
	return nil
}

// check completes zero values and says what is wrong with the service for prompts
// whose content is known in blocks of blockTokens tokens.
func (s *Service) check(blockTokens int) error {
	s.Instances = max(s.Instances, 1)
	if err := s.Engine.check(blockTokens); err != nil || s.Decode == nil {
		return err
	}
	s.DecodeInstances = max(s.DecodeInstances, 1)
	if s.Transfer == nil {
		s.Transfer = func(int) time.Duration { return 0 }
	}
	return s.Decode.check(blockTokens)
}

// Generating is the engine that generates tokens and how many of it there are.
func (s *Service) Generating() (e *Engine, instances int) {
	if s.Decode != nil {
		return s.Decode, max(s.DecodeInstances, 1)
	}
	return &s.Engine, max(s.Instances, 1)
}

// Slots is how many sequences the service can run at once, KV blocks aside.
func (s *Service) Slots() int {
	e, n := s.Generating()
	return n * max(e.Ranks, 1) * e.MaxSeqs
}

// refuses says why a request can never run on the engine; "" where it can.
func (e *Engine) refuses(r *workload.Request) string {
	total := r.Input + r.Output
	switch {
	case e.MaxContext > 0 && total > e.MaxContext:
		return fmt.Sprintf("%d tokens with the answer, the context holds %d", total, e.MaxContext)
	case blocksFor(total, e.BlockSize) > e.Blocks:
		return fmt.Sprintf("%d tokens with the answer, the KV cache holds %d", total, e.Blocks*e.BlockSize)
	}
	return ""
}

// blocksFor is the blocks that n tokens take.
func blocksFor(n, size int) int { return (n + size - 1) / size }
