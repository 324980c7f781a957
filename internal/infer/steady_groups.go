package infer

import "math"

// settling is the most rounds in which the mean step of groups is found.
const settling = 16

// groups is the prompts that steps read where those who come while a step lasts are read
// together in the next one: all who came in a long step make the next one long.
type groups struct {
	mean       float64 // of all steps
	idle, long float64 // steps without and with prompts, mean
	share      float64 // of the steps with prompts
	rate       float64 // prompt chunks a second
}

// groups are those of clients who come at moments of their own on the clock, q chunks a
// step on average: the number in a step is Poisson's over the time of the step before.
//
//	mean = share step(rate long) + (1 - share) step(rate idle)
func (r *reading) groups(q float64) groups {
	if q == r.q {
		return r.grouped
	}
	g := groups{mean: r.mean(0, q), idle: r.step(0)}
	g.long = max(g.mean, r.step(1))
	least := g.idle + q/r.most*(r.whole()-g.idle) // full steps read q chunks in no less
	for range settling {
		g.rate = q / g.mean
		come, none := 1-math.Exp(-g.rate*g.idle), math.Exp(-g.rate*g.long)
		if g.share = 1; come+none > 0 { // both vanish where a prompt takes longer than all answers
			g.share = come / (come + none)
		}
		mean := g.share*r.mean(0, g.rate*g.long) + (1-g.share)*r.mean(0, g.rate*g.idle)
		if g.share > 0 {
			g.long = max((mean-(1-g.share)*g.idle)/g.share, g.idle)
		}
		mean = max(mean, least)
		near := math.Abs(mean-g.mean) < 1e-4*mean
		if g.mean = (g.mean + mean) / 2; near {
			break
		}
	}
	if g.long = min(g.long, r.whole()); g.long > g.idle { // steps hold no more than fits: then more of them hold it
		g.share = min((g.mean-g.idle)/(g.long-g.idle), 1)
	}
	r.q, r.grouped = q, g
	return g
}

// grouped tells that prompts are read in groups: answers of lengths that vary end at
// steps of their own, those of equal ones keep the groups that their clients came in.
// Engines that read prompts apart keep all of them together, see lockstep; prompts longer
// than a step of one replica wait for one another, see behind.
func (s *steady) grouped(q float64) bool {
	return q > 0 && s.l.Fixed && !s.e.profile.Separate
}

// meanStep is the mean time between tokens of a sequence in which q chunks are read on average.
func (r *reading) meanStep(q float64) float64 {
	if r.s.turns {
		t := r.turn(q)
		return t.step / (1 - t.idle)
	}
	if !r.s.grouped(q) {
		return r.mean(0, q)
	}
	return r.groups(q).mean
}

// beside is the mean time of a step that reads a given chunk and those of others, q a
// step on average.
func (r *reading) beside(q float64) float64 {
	if r.s.turns {
		q = r.turn(q).q
	}
	if !r.s.grouped(q) {
		return r.mean(1, q)
	}
	g := r.groups(q)
	after := g.share * g.long / g.mean // it came while a step with prompts lasted
	return after*r.mean(1, g.rate*g.long) + (1-after)*r.mean(1, g.rate*g.idle)
}

// before is how long a request waits before the step that reads it, where the prompts of
// others are read in groups: for the end of the step that runs, a long one more likely, and
// for so many steps behind it, long ones after long ones.
func (g *groups) before(steps float64) float64 {
	then := func(long float64) float64 { return long*g.long + (1-long)*g.idle }
	long := g.share * g.long / g.mean
	wait := then(long) / 2
	come, none := 1-math.Exp(-g.rate*g.idle), math.Exp(-g.rate*g.long)
	for ; steps > 0; steps-- {
		next := long*(1-none) + (1-long)*come
		wait += min(steps, 1) * then(next)
		if math.Abs(next-long) < rest {
			return wait + max(steps-1, 0)*then(next)
		}
		long = next
	}
	return wait
}
