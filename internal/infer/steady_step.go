package infer

import "math"

// burst is the mean time to the first token when n clients send at once: steps of
// prompts follow one another, each ends the wait of those it has read.
func (s *steady) burst(n float64) float64 {
	mean, _ := s.together(n)
	return mean
}

// together is the mean time to the first token of n prompts that come at once to an idle engine, and
// when the last of them is read. All steps but the last are full, and a prompt takes k of its own:
//
//	mean = (k full + end)/2,  end = full steps + the rest's
//
// Where several share a step those of a full one c wait for it together. Up to the prompts that
// fit at once all are read in k steps.
func (s *steady) together(n float64) (mean, end float64) {
	chunks := n * s.chunks
	if n <= s.capacity {
		end = s.chunks * s.mixed(0, n)
		return end, end
	}
	full := s.mixed(0, s.capacity)
	whole := math.Ceil(chunks/s.capacity) - 1
	rest := chunks - whole*s.capacity
	end = whole*full + s.mixed(0, rest)
	if s.chunks > 1 {
		return (s.chunks*full + end) / 2, end
	}
	return (s.capacity*full*whole*(whole+1)/2 + rest*end) / n, end
}

// lockstep is the closed loop of clients whose requests are all alike on an engine that
// reads prompts between decode steps and first: steps read the prompts of all clients, who
// then generate together and are read together:
//
//	TTFT = mean,  answer = steps decode + end - mean  (see together)
//
// All come to an idle engine, whose admission nobody's steps delay, unless drafts that hold by
// chance end their answers some steps apart: then a prompt waits for the longer of the two,
// admission or the prompts of others. It does not hold where an answer ends before all prompts are read: ok is false. All answers end at once,
// so that a place holds a whole one.
func (s *steady) lockstep(clients, held float64, limit Limit) (p Point, ok bool) {
	if others := max(math.Ceil(clients*s.chunks/s.capacity), s.chunks) - s.chunks; s.steps <= others {
		return p, false
	}
	decode := float64(s.decode(clients).Total)
	first, end := s.together(clients)
	rest := end - first
	answer := s.steps*decode + rest
	certain := s.l.Spec == nil || s.l.Spec.certain()
	if !certain {
		first += max(s.admission(decode)-rest, 0)
	}
	n := clients * answer / (first + answer + s.entry)
	p = s.point(n, answer/s.steps, first, held, limit)
	p.InStep = clients > 1
	p.Step = s.decode(clients)
	p.Prompts = 1 - float64(p.Step.Total)*s.steps/answer
	p.Bound = p.Step.Bound()
	if p.Doubt = NoDoubt; p.InStep && !certain {
		p.Doubt = Parted
	}
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
	return q * s.chunks * s.apart
}

// exclude says how many more prompts of others a sequence sees while it generates than it would
// at any time: those that do not fit into the steps that read its own were read at other times.
//
//	1/(1 - share reads/cycle),  share = chunks/what fits
//
// Few users whose prompts fill steps take turns by that. n of them generate, and a step took so long.
func (s *steady) exclude(n, step float64) {
	if s.steps <= 0 || s.l.Fixed || s.e.profile.Separate {
		return
	}
	cycle := s.steps * step * s.clients / n
	own := min(s.chunks*s.reading(s.seen(n)).step(1)/cycle, 0.5)
	s.apart = 1 / (1 - own*min(s.chunks/s.capacity, 1))
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
	r := s.reading(seen)
	t := s.chunks * r.beside(s.read(seen))
	if s.l.Spread == 0 { // the last one is never shorter than a step without prompts
		t += (math.Ceil(s.chunks) - s.chunks) * r.step(0)
	}
	return t
}

// behind is how long a prompt that takes more than a full step waits for those of others
// before it, beyond the half step that first counts: with one place of constant time,
//
//	wait = read rho^2 / (2(1-rho)),  read = chunks x full step
//	rho  = chunks a step / what fits x (1 + x (full step/mean step - 1)),  x = entry/(entry + full step)
//
// Pollaczek and Khinchine's form less the rest of what is being read. Answers end by the step and not by
// the clock: a step that lasts brings no more of those who follow, but for x of them, whose way to the
// queue outlasts it. rho is the load of the other clients (arrival theorem of closed networks): a
// lone one waits for nobody. Prompts that share a step hardly queue; what they wait is in the
// fitted admission.
func (s *steady) behind(n, step float64) float64 {
	if s.steps <= 0 || n*s.others <= 0 || s.chunks <= s.capacity {
		return 0
	}
	full := s.mixed(s.seen(n), s.capacity)
	outlasts := s.entry / (s.entry + full)
	rho := n * s.others / s.steps * s.chunks / s.capacity * (1 + outlasts*(full/step-1))
	rho = min(s.others, rho)
	return s.chunks / s.capacity * full * rho * rho / (2 * (1 - rho))
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
