package infer

import "github.com/ridgeline/ridgeline/internal/unit"

// point turns the solution into the figures users ask for.
func (s *steady) point(n, step, first, held float64, limit Limit) Point {
	l, c := s.l, float64(s.l.Concurrency)
	p := Point{Decoding: n, Running: int64(min(c, held)), Step: s.decode(s.seen(n))}
	answer := s.steps * step
	late := s.late(step, answer)
	if l.OSL > 1 {
		p.TPOT = unit.Seconds((answer - late) / float64(l.OSL-1))
	}
	used := 0.0
	if s.steps > 0 {
		p.Requests = n / answer
		used = n / s.steps * s.chunks / s.capacity
	} else {
		p.Requests = min(c, held) / first
		used = min(1, c/(s.capacity/s.chunks))
	}
	most := s.most(held)
	if s.e.profile.Separate { // steps of prompts follow one another as long as it takes
		used = p.Requests / most
	}
	if p.Requests > most {
		p.Requests, used = most, 1
	}
	// Little's law gives the wait of those who neither generate nor are read nor are
	// on their way between client and engine.
	entry := unit.Seconds(s.entry)
	busy := answer + first + s.entry
	wait := max(c/p.Requests-busy, 0)
	if !s.full && wait < 1e-2*busy { // the iteration's tolerance, no queue
		wait = 0
		p.Requests = c / busy
	}
	p.Queue = unit.Seconds(wait)
	p.Steady = unit.Seconds(first+wait+late) + entry
	p.Burst = max(unit.Seconds(s.burst(min(c, held))+wait+late)+entry, p.Steady)
	rounds := l.Rounds
	if rounds == 0 {
		rounds = DefaultRounds
	}
	p.TTFT = overRounds(p.Steady, p.Burst, rounds)
	p.E2E = p.Steady + unit.Seconds(answer-late)
	p.Output = p.Requests * float64(l.OSL)
	p.Room = max(min(used, 1), min(c/held, 1))
	if p.Room >= 1 && wait > 0 {
		p.Limit = limit
		if used >= 1-1e-6 {
			p.Limit = PromptFull
		}
	}
	if step > 0 {
		p.Prompts = 1 - float64(p.Step.Total)/step
	}
	p.Bound = p.Step.Bound()
	p.Doubt = s.doubt(&p, n)
	return p
}

// overRounds is the mean time to the first token of a run in which each client sends so
// many requests, all their first ones at once.
func overRounds(steady, burst unit.Seconds, rounds int64) unit.Seconds {
	return steady + (burst-steady)/unit.Seconds(rounds)
}
