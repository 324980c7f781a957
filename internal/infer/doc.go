// Package infer prices one step of a serving engine: a batch of sequences that
// generate a token each and of prompt chunks that are read, on one engine
// instance. It knows weights, KV cache, collectives and the engine's own
// overheads; it knows no queue and no clock: package serve simulates those, and
// the steady-state formulas here agree with it where they are valid.
package infer

import "github.com/ridgeline/ridgeline/internal/unit"

// Batch is what one engine step processes on one instance, all DP replicas
// together. Replicas are taken as evenly loaded; the largest share decides.
type Batch struct {
	Decode        int     // sequences that generate
	DecodeContext int64   // KV tokens they read, summed over sequences
	Draft         int     // speculative tokens verified beside each generated one, 0 = none
	Prefill       int64   // prompt tokens read in this step
	PrefillPairs  float64 // query-key pairs of these tokens, causal, earlier chunks of the prompt included
	Prompts       int     // prompts they belong to
	// Busiest is the most prompt tokens that a replica reads, 0 = not known: steps full of
	// parts of prompts hold more parts than replicas, but no more tokens.
	Busiest int64
}

// Part is what a step's time is spent on.
type Part uint8

// The parts, in the order reports print them.
const (
	Attention Part = iota // projections and core
	Dense                 // dense and shared FFN
	Experts
	Head
	Communication
	Overhead // scheduler, launches, sampling
	NumParts
)

var partNames = [NumParts]string{"attention", "dense ffn", "experts", "head", "communication", "overhead"}

// String is the part's name in reports and JSON.
func (p Part) String() string { return partNames[p] }

// Step is the time of one engine step. Floor <= Total <= Upper.
type Step struct {
	Floor, Total, Upper unit.Seconds
	Parts               [NumParts]unit.Seconds // of Total
	Wire                unit.Seconds           // of Total: waiting for latency between nodes
	// Speed of light: each resource alone at its achieved rate.
	Compute, HBM, NVLink, Network unit.Seconds
	// Multiplications with those on padding, and memory traffic, at the kernels' own rates.
	Pipes, Memory unit.Seconds
}

// Stepper prices steps. Implementations are deterministic, allocate nothing per
// call and serve one goroutine; Engine is the real one.
type Stepper interface {
	Step(b *Batch) Step
}
