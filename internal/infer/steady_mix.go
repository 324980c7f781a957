package infer

import (
	"math"
	"math/bits"
)

// Numbers of prompts in a step count from so many standard deviations below the mean on
// and until all but a share of the steps is counted.
const (
	tails = 5
	rest  = 1e-5
)

// stretch is numbers of prompt chunks from a to b over which a step's time grows evenly,
// from at by slope for each.
type stretch struct {
	a, b      int64
	at, slope float64
}

// reading is steps of n generating sequences by the prompt chunks that they read; most
// fit into one. Stretches are priced as they are asked for.
type reading struct {
	s         *steady
	n         float64
	most      float64
	full      float64 // time of a step of most chunks; 0 = not asked for yet
	stretches []stretch
	grouped   groups // of q chunks a step; q 0 = not asked for yet
	q         float64
}

// reading is steps of n generating sequences under the token budget dealt last; what is
// asked about one population comes one after the other and is priced once.
func (s *steady) reading(n float64) *reading {
	if s.last == nil || s.last.n != n {
		s.last = &reading{s: s, n: n, most: s.capacity}
	}
	return s.last
}

// step is the time of a step of k chunks. Those beyond what fits are read in full steps.
func (r *reading) step(k int64) float64 {
	if float64(k) >= r.most {
		idle := r.step(0)
		return idle + float64(k)/r.most*(r.whole()-idle)
	}
	for i := len(r.stretches) - 1; i >= 0; i-- {
		if t := &r.stretches[i]; t.a <= k && k <= t.b {
			return t.at + t.slope*float64(k-t.a)
		}
	}
	r.stretches = append(r.stretches, r.price(k))
	return r.step(k)
}

// whole is the time of a full step.
func (r *reading) whole() float64 {
	if r.full == 0 {
		r.full = r.s.mixed(r.n, r.most)
	}
	return r.full
}

// price is the stretch of k chunks: by those of the busiest replica 1, 2, 3 to 4, 5 to 8
// and so on.
func (r *reading) price(k int64) stretch {
	dp := int64(r.s.e.setup.Plan.DP)
	var t stretch
	if k > 0 {
		each := (k - 1) / dp // chunks of the busiest replica, less one
		wide := int64(1) << max(bits.Len64(uint64(each))-1, 0)
		from := each / wide * wide
		t.a, t.b = from*dp+1, min((from+wide)*dp, int64(math.Ceil(r.most))-1)
	}
	t.at = r.s.mixed(r.n, float64(t.a))
	if t.b > t.a {
		t.slope = (r.s.mixed(r.n, float64(t.b)) - t.at) / float64(t.b-t.a)
	}
	return t
}

// mean is the mean time of a step that reads own chunks and those of others, q on
// average by Poisson's law. It is not the step of the mean number: the first chunk makes
// a step long (it touches all experts, and replicas of DP attention, which step together,
// wait for the one that reads), what other replicas read meanwhile adds little.
func (r *reading) mean(own int64, q float64) float64 {
	apart := r.s.alone && own == 0 // as many full steps follow one another as it takes
	if !apart && (float64(own) >= r.most || q >= r.most) {
		return r.whole()
	}
	low := math.Floor(max(0, q-tails*math.Sqrt(q)))
	gamma, _ := math.Lgamma(low + 1)
	p := math.Exp(-q - gamma)
	if low > 0 {
		p = math.Exp(low*math.Log(q) - q - gamma)
	}
	time, weights := 0.0, 0.0
	for k := int64(low); weights < 1-rest && p > 0; k++ {
		t := r.step(own + k)
		if (own > 0 || r.s.turns) && float64(own+k) > r.most { // the others' chunks that do not fit wait
			t = r.whole()
		}
		time += p * t
		weights += p
		p *= q / float64(k+1)
	}
	time /= weights
	if r.full > 0 && !apart {
		time = min(time, r.full)
	}
	return time
}

// reread is how many prompts a step reads again on average because full caches threw
// their sequences out, where n generate and q answers end in it. The cache of a rank is
// full when less than a prompt's room is free, any share of it alike. A step lets it grow
// by a token for each that generates, and an answer that ends frees its own room; what is
// then missing is taken from those who came last, prompt by prompt:
//
//	evicted = ranks x sum over k of Poisson(k; q) max(0, grown - k (ISL + OSL)) / ISL
//
// What prefix caches keep of an evicted prompt is not read again: until the next answer
// ends, and makes room for it, the others grow over OSL tokens of it.
func (s *steady) reread(n, q float64) float64 {
	ranks := float64(s.e.setup.Plan.DP)
	isl, osl := float64(s.l.ISL), float64(s.l.OSL)
	grown := n / ranks * s.tokens
	q /= ranks
	p, sum := math.Exp(-q), 0.0
	for k := 0.0; k*(isl+osl) < grown; k++ {
		sum += p * (grown - k*(isl+osl)) / isl
		p *= q / (k + 1)
	}
	return ranks * sum * min(1, osl/isl)
}
