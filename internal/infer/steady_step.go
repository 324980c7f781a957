package infer

import "math"

// burst is the mean time to the first token when n clients send at once: steps of
// prompts follow one another, each ends the wait of those it has read.
//
//	mean = step(chunks of all / steps) x (steps + own)/2,  steps = chunks of all / what fits, at least own
func (s *steady) burst(n float64) float64 {
	clumps, each := s.clumps(n)
	return s.awaits(clumps, s.mixed(0, each))
}

// awaits is the mean time to the first token of prompts that so many steps read.
func (s *steady) awaits(clumps, step float64) float64 { return step * (clumps + s.chunks) / 2 }

// clumps is the steps that read the prompts of n clients one after the other, and
// how many chunks one reads on average: all but the last are full. A prompt is read by one
// replica, so in no fewer steps than it has chunks.
func (s *steady) clumps(n float64) (steps, each float64) {
	chunks := n * s.chunks
	steps = max(math.Ceil(chunks/s.capacity), s.chunks)
	return steps, chunks / steps
}

// lockstep is the closed loop of clients whose requests are all alike on an engine that
// reads prompts between decode steps and first: K steps read a prompt of every client,
// k of them each, all clients generate together and are read together:
//
//	TTFT = (K + k)/2 prompt,  answer = steps decode + (K - k)/2 prompt
//
// All come to an idle engine, whose admission nobody's steps delay, unless drafts that hold by
// chance end their answers some steps apart: then a prompt waits for the longer of the two,
// admission or the prompts of others. It does not hold where an answer ends before all prompts are read: ok is false. All answers end at once,
// so that a place holds a whole one.
func (s *steady) lockstep(clients, held float64, limit Limit) (p Point, ok bool) {
	clumps, each := s.clumps(clients)
	others := clumps - s.chunks
	if s.steps <= others {
		return p, false
	}
	decode := float64(s.decode(clients).Total)
	prompt := s.mixed(0, each)
	first, answer := s.awaits(clumps, prompt), s.steps*decode+others/2*prompt
	if s.l.Spec != nil && !s.l.Spec.certain() {
		first += max(s.admission(decode)-others/2*prompt, 0)
	}
	n := clients * answer / (first + answer + s.entry)
	p = s.point(n, answer/s.steps, first, held, limit)
	p.InStep = clients > 1
	p.Step = s.decode(clients)
	p.Prompts = 1 - float64(p.Step.Total)*s.steps/answer
	p.Bound = p.Step.Bound()
	return p, true
}

// admission is the time of the steps of others that pass before a prompt is read.
func (s *steady) admission(step float64) float64 { return s.delays() * step }

// delays is those steps: no more than an answer has, after which the engine is idle and lets
// all in.
func (s *steady) delays() float64 { return min(s.e.profile.Admission, s.steps) * s.others }

// late is how long the client waits for its first token after the engine made it,
// where the engine sends several at once: the time of the others, at most of all.
func (s *steady) late(step, answer float64) float64 {
	return min(float64(max(s.e.profile.Stream, 1)-1)/s.tokens*step, answer)
}

// held is how many sequences the instance may hold and what would stop more.
func (s *steady) held() (float64, Limit) {
	slots := s.e.setup.MaxSequences * int64(s.e.setup.Plan.DP)
	if s.l.Slots > 0 {
		slots = min(slots, s.l.Slots)
	} else if n := s.e.DraftingSequences(s.l.Spec); n > 0 {
		slots = min(slots, n*int64(s.e.setup.Plan.DP))
	}
	cache := s.e.Holds(s.l.ISL, s.l.OSL)
	if cache <= slots {
		return float64(max(cache, 1)), CacheFull
	}
	return float64(slots), SlotsFull
}

// seen is how many sequences generate in the steps that one of them sees.
func (s *steady) seen(n float64) float64 { return 1 + n*s.others }

// decode is a step of n sequences and no prompt.
func (s *steady) decode(n float64) Step {
	s.batch = s.generating(n)
	return s.st.Step(&s.batch)
}

// generating is a batch of n sequences, rounded.
func (s *steady) generating(n float64) Batch {
	k := int64(math.Round(n))
	return Batch{Decode: int(k), DecodeContext: int64(float64(k) * s.context)}
}

// step is the mean time between tokens of a sequence.
func (s *steady) step(n float64) float64 {
	if s.steps <= 0 {
		return 0
	}
	return s.reading(s.seen(n)).meanStep(s.read(n * s.others))
}

// read is the prompt chunks that a step reads on average where n sequences generate:
// those of answers that follow others, and of sequences that a full cache threw out.
func (s *steady) read(n float64) float64 {
	if s.steps <= 0 {
		return 0
	}
	q := n / s.steps
	if s.evicts > 0 {
		q += s.evicts * s.reread(n, q)
	}
	return q * s.chunks
}

// first is the time from a request's start to its first token without a queue: half
// of the step that runs, then its own chunks beside those of others. step is s.step(n).
func (s *steady) first(n, step float64) float64 {
	seen := n * s.others
	t := s.reads(n) + s.behind(n, step)
	if q := s.read(seen); s.grouped(q) {
		g := s.reading(max(seen, 1)).groups(q) // a step without prompts generates for one at least
		return t + g.before(s.delays())
	}
	switch q := s.read(seen); {
	case s.turns:
		step = s.reading(seen).turn(q).step
	case s.alone && s.e.setup.Plan.DP > 1: // the steps are those of all replicas, one with prompts behind most others
		step /= 1 - math.Expm1(-q)
	}
	if seen > 0 {
		t += step / 2
	}
	return t + s.admission(step)
}

// reads is how long the steps take that read a prompt: its own chunks beside those of others.
func (s *steady) reads(n float64) float64 {
	seen := n * s.others
	return s.chunks * s.reading(seen).beside(s.read(seen))
}

// behind is how long a prompt that takes more than a full step waits for those of others
// before it, beyond the half step that first counts: with one place of constant time,
//
//	wait = read rho^2 / (2(1-rho)),  read = chunks x full step
//
// Pollaczek and Khinchine's form less the rest of what is being read. rho is the load of
// the other clients (arrival theorem of closed networks): a lone one waits for nobody.
// Prompts that share a step hardly queue; what they wait is in the fitted admission.
func (s *steady) behind(n, step float64) float64 {
	if s.steps <= 0 || n*s.others <= 0 || s.chunks <= s.capacity {
		return 0
	}
	read := s.chunks / s.capacity * s.mixed(s.seen(n), s.capacity)
	rho := min(s.others, n*s.others/(s.steps*step)*read)
	return read * rho * rho / (2 * (1 - rho))
}

// most is how many requests/s are read where full steps follow one another and the
// instance holds all the sequences it can: prompts are read in no less time, however few
// clients send them. Engines that read prompts apart may do so without generating.
func (s *steady) most(held float64) float64 {
	n := 0.0
	if !s.e.profile.Separate {
		n = s.seen(min(held, s.successors()))
	}
	return s.capacity / s.chunks / s.mixed(n, s.capacity)
}
