package infer

import (
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Load is a closed loop on one instance: Concurrency clients, each sending its next
// request of ISL prompt and OSL generated tokens when the last one is answered.
type Load struct {
	ISL, OSL    int64
	Cached      int64 // of ISL: found in the prefix cache and not read; every sequence holds them all the same
	Concurrency int64
	Spec        *Speculation // nil = none
	Slots       int64        // most sequences generating at once on the instance; 0 = the engine's own limit
	// Stepper prices steps in the engine's place, for example a Speculative or a
	// TwoBatch around it; nil = the engine itself. It is asked for plain batches.
	Stepper Stepper
	// Rounds is how many requests each client sends. All send their first one at once,
	// and the mean TTFT holds that burst; 0 = DefaultRounds.
	Rounds int64
	// Spread is the coefficient of variation of the prompts' lengths, 0 = not known: of
	// those near what a step reads some take a step more.
	Spread float64
	// Fixed marks requests of exactly ISL and OSL tokens. Where the engine reads prompts
	// before it generates on (Profile.Separate), clients that started together then stay
	// in step: all are read together and generate together. Lengths that vary by a few
	// percent dissolve that. Engines that mix both keep groups of clients together, those
	// whose prompts one step reads: of 339 measured runs of equal lengths on them
	// (inference_runs.csv, source lab) TTFT lies 17 % (vLLM) and 28 % (TensorRT-LLM) from
	// this form and 43 % from all in step, median.
	Fixed bool
}

// DefaultRounds is the length of a benchmark run: 10 requests for each client, as in
// the measured runs that predictions are compared with.
const DefaultRounds = 10

// Point is a closed loop: means over the requests of a run, rates of its steady state.
type Point struct {
	TTFT, TPOT unit.Seconds
	Burst      unit.Seconds // mean TTFT of the first round
	Steady     unit.Seconds // mean TTFT of the others
	Queue      unit.Seconds // of Steady: waiting for room in the cache or in the prompt budget
	E2E        unit.Seconds // Steady and all further tokens
	Requests   float64      // per second
	Output     float64      // generated tokens per second of the instance
	Decoding   float64      // sequences that generate at once
	Running    int64        // sequences that the instance holds at once
	Prompts    float64      // share of the time that prompts add to decode steps
	// Room is the used share of the scarcest of cache, sequence slots and prompt
	// tokens per step; at 1 requests queue.
	Room  float64
	Limit Limit
	// InStep tells that all clients are read together and generate together, see Load.Fixed.
	InStep bool
	Step   Step // a decode step without prompts
	Bound  cost.Resource
	Doubt  Doubt
}

// Limit is what a Point ran out of.
type Limit uint8

// The limits.
const (
	NoLimit    Limit = iota
	CacheFull        // the KV cache holds no more sequences
	SlotsFull        // the engine's own limit of sequences
	PromptFull       // prompts fill every step's token budget
)

var limitNames = [...]string{"none", "kv cache", "sequence slots", "prompt tokens per step"}

// String is the limit's name in reports.
func (l Limit) String() string { return limitNames[l] }

// trusted is the share of room beyond which means still hold and tails do not:
// bursts queue that a mean does not see.
const trusted = 0.8

// Valid tells whether the means stand for single requests as well; beyond, only a
// simulation gives percentiles.
func (p *Point) Valid() bool { return p.Room <= trusted }

// steady is the closed loop while it is solved.
type steady struct {
	e        *Engine
	st       Stepper
	l        *Load
	steps    float64 // decode steps of one answer
	tokens   float64 // per sequence and step
	context  float64 // cached tokens of a generating sequence, mean
	left     float64 // prompt tokens that fit into one step of a replica
	capacity float64 // prompt chunks that fit into one step, parts of them counted
	chunks   float64 // steps that read one prompt
	chunk    int64   // tokens of each
	alone    bool    // steps that read prompts generate nothing, see Profile.Separate
	turns    bool    // each replica reads or generates, beside others that do the other
	evicts   float64 // share of the time in which the cache is full and throws sequences out
	full     bool    // more clients than places: who ends is followed at once
	clients  float64 // that have a place
	others   float64 // (n-1)/n: what one of n clients sees of a population
	apart    float64 // see exclude
	entry    float64 // of a request, outside the instance: see Profile.Entry
	batch    Batch
	last     *reading // of the budget and population asked about last
}

// Steady solves the closed loop. Prompts are read in line with decode steps (or, in
// engines that do not mix, between them), in chunks that the step's token budget
// leaves room for:
//
//	step    = sum over k of P(k) mixed(n, k chunks),  mean of k: q = n/steps x chunks
//	clients = n + rate x (TTFT + entry) + waiting,    rate = n/(steps x step)
//
// n is the sequences that generate at once, q the prompt chunks per step, P Poisson's
// law or, for requests that are all alike, that of groups. Where q reaches what fits,
// or the cache is full, the rest of the clients wait, and what a full cache throws out is
// read again. The formula has no bursts: see Point.Valid.
func Steady(e *Engine, l *Load) (Point, error) {
	if l.Concurrency < 1 || l.Rounds < 0 {
		return Point{}, fmt.Errorf("concurrency %d with %d rounds: give at least 1, and 0 or more", l.Concurrency, l.Rounds)
	}
	if err := e.CheckRequest(l.ISL, l.OSL); err != nil {
		return Point{}, err
	}
	if err := checkCached(l.Cached, l.ISL); err != nil {
		return Point{}, err
	}
	if l.Spec != nil {
		if err := l.Spec.Check(); err != nil {
			return Point{}, err
		}
	}
	s := newSteady(e, l)
	return s.solve(), nil
}

// checkCached refuses prompts of which nothing is read.
func checkCached(cached, isl int64) error {
	if cached < 0 || cached >= isl {
		return fmt.Errorf("%d cached tokens of prompts of %d: give 0 or more, and fewer than the prompt has", cached, isl)
	}
	return nil
}

// fresh is the tokens of a prompt that are read.
func (l *Load) fresh() float64 { return float64(l.ISL - l.Cached) }

func newSteady(e *Engine, l *Load) *steady {
	s := &steady{e: e, st: l.Stepper, l: l, tokens: l.Spec.Tokens()}
	if s.st == nil {
		s.st = e
	}
	if e.profile.Separate {
		s.turns = e.setup.Plan.DP > 1 && l.Spec == nil
		s.alone = !s.turns
	}
	s.steps = float64(l.OSL-1) / s.tokens
	s.entry = float64(e.profile.Entry(l.ISL))
	s.context = float64(l.ISL) + float64(l.OSL)/2
	return s
}

// iterations bounds the search for the population; it takes 3 to 6.
const iterations = 40

// solve finds the population of generating sequences.
func (s *steady) solve() Point {
	l := s.l
	held, limit := s.held()
	clients := min(float64(l.Concurrency), held)
	s.full = float64(l.Concurrency) > held
	if limit == CacheFull && s.full {
		s.evicts = s.e.fullness(float64(l.Concurrency), l.ISL, l.OSL)
	}
	s.clients, s.others = clients, (clients-1)/clients
	most := s.successors()
	s.apart = 1
	s.budget(min(clients, most))
	if l.Fixed && s.e.profile.Separate {
		whole, stop := float64(max(s.e.MaxConcurrency(l.ISL+l.OSL), 1)), CacheFull
		if whole >= held {
			whole, stop = held, limit
		}
		if p, ok := s.lockstep(min(clients, whole), whole, stop); ok {
			return p
		}
	}
	n := min(clients, most)
	step := s.step(n)
	first := s.first(n, step)
	for i := range iterations {
		next := min(s.population(n, step, first, held), most)
		near := math.Abs(next-n) < 1e-3*n
		if i > iterations/4 { // steps count whole sequences: the fixed point may lie between two
			next = (n + next) / 2
		}
		n = next
		s.budget(n)
		s.exclude(n, step)
		step = s.step(n)
		first = s.first(n, step)
		if near {
			break
		}
	}
	return s.point(n, step, first, held, limit)
}

// population is how many clients generate if n did so: all but those who wait, are
// read or are on their way; of those with a place, all but those who are read.
func (s *steady) population(n, step, first, held float64) float64 {
	if s.steps <= 0 {
		return n
	}
	rate := n / (s.steps * step)
	next := n * float64(s.l.Concurrency) / (n + rate*(first+s.entry))
	if s.full {
		next = min(next, n*held/(n+rate*s.reads(n)))
	}
	return next
}
