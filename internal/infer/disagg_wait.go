package infer

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// waiting is the mean wait at load rho in service times, of random arrivals at a server
// of constant time (Pollaczek-Khinchine).
func waiting(rho float64) unit.Seconds { return unit.Seconds(rho / (2 * (1 - rho))) }

// grouping is the most rounds in which the mean step of a prefill worker is found.
const grouping = 32

// reading is how long a prompt waits for a prefill worker, one of so many in turn, that others
// send requests/s and load to rho, and how long the steps that read it take. A step reads all who
// came during the one before, or the first who comes after it:
//
//	prompts in a step = m + P(none came),  m = rate x mean step,  at most the fit of a full step
//	wait = busy long/2 + full step/fit rho^sqrt(2(fit of a replica+1)) / (2(1-rho)),  long = mean of step^2 / mean step
//
// Their number is Poisson's of all workers, dealt in turn. Means of steps are over that number, as replicas of DP attention step together: a prompt more
// than they are makes the step that reads it half as long again, and the next step read more.
// busy is the share of the time that steps take, long the one that runs when a prompt comes. The last
// term is those whom a full step leaves behind, Sakasegawa's form for queues with several places [Ann. Inst. Stat. Math.
// 29 (1977) 67]; with one prompt in a step the sum is Pollaczek and Khinchine's wait. It
// has no end as rho nears 1 only where requests come from outside: of a closed loop's
// users, others for each worker, who waits sends no more (see queued); away is how long
// they are elsewhere.
//
// A prompt behind others begins anywhere in a step of its replica, and the larger it is
// the more often it ends in the next one (see straddles).
func (r *rates) reading(workers int, rate, rho, others float64, away unit.Seconds) (wait, read unit.Seconds) {
	d := r.d
	full := r.full
	step, long, came, prompts := r.lone, unit.Seconds(0), 0.0, 1.0
	for range grouping {
		came = rate * float64(step)
		prompts = min(came+none(workers, came), full)
		last := step
		step, long = r.steps(workers, 0, came)
		if math.Abs(float64(step-last)) < 1e-3*float64(last) {
			break
		}
	}
	busy := unit.Seconds(min(came/prompts, 1))
	came = rate * float64(long)
	with, _ := r.steps(workers, 1, came)
	with *= unit.Seconds(1 + d.straddles()*min(came/full, 1))
	wait, read = busy*long/2, busy*with+(1-busy)*r.lone
	if rate > 0 {
		ranks := float64(d.ranks())
		chance := 1/float64(workers) + ranks*d.Spread*d.Spread
		behind := queued(rate, r.most(), others, float64(away+wait+read), chance)
		wait += unit.Seconds(math.Pow(rho, math.Sqrt(2*(full/ranks+1))) * behind / rate)
	}
	return wait, read
}

// straddles is the share of its time more that reading a prompt takes which begins anywhere in a
// full step: half of a step for those whose tokens cross its end, the others are behind the end of
// a prompt that waited. Prompts that are alike begin at the same places again and again and
// cross only by what they leave of a step.
func (d *Disagg) straddles() float64 {
	fresh, budget := d.ISL-d.Cached, d.budget()
	crosses := min(fresh, budget)
	if d.Spread == 0 && fresh <= budget {
		crosses = budget % fresh
	} else if d.Spread == 0 {
		crosses = ceil(fresh, budget)*budget - fresh
	}
	return float64(crosses) / float64(2*max(fresh, budget))
}

// none is the chance that none of Poisson's number of requests, mean on average for each of
// so many workers that get them in turn, comes to one.
func none(workers int, mean float64) float64 {
	all := mean * float64(workers)
	p, sum := math.Exp(-all), 0.0
	for n := range workers {
		sum += p * (1 - float64(n)/float64(workers))
		p *= all / float64(n+1)
	}
	return sum
}

// steps is the mean time of a step that reads own prompts and those of others, mean on
// average, that come to one of so many workers in turn, one prompt at least and no more than
// fit, and that of the steps which one who comes meets. Large numbers, of which each is like
// the next, are counted in strides.
func (r *rates) steps(workers int, own, mean float64) (step, met unit.Seconds) {
	full, share := r.full, float64(workers)
	mean *= share
	spread := math.Sqrt(mean)
	stride := max(math.Floor(spread/8), 1)
	sum, square, weights := 0.0, 0.0, 0.0
	for k := math.Floor(max(0, mean-tails*spread)); k <= mean+tails*spread+1; k += stride {
		gamma, _ := math.Lgamma(k + 1)
		p := math.Exp(k*math.Log(max(mean, math.SmallestNonzeroFloat64)) - mean - gamma)
		t := float64(r.step(min(max(own+k/share, 1), full)))
		sum, square, weights = sum+p*t, square+p*t*t, weights+p
	}
	return unit.Seconds(sum / weights), unit.Seconds(square / sum)
}

// queued is the mean number that waits for a place of constant time which serves most a
// second, where users come back after a time away and pass it at rate a second. Their
// number moves up and down by chance, rate a second, and drifts down by most less what
// those who do not wait send, (users-q)/away:
//
//	p(q) ~ exp(-(2/rate) (q (most - users/away) + q^2/(2 away)))
//
// the queue of a closed loop near its limit (reflected Ornstein-Uhlenbeck process; Iglehart,
// J. Appl. Prob. 2 (1965) 429); with users and time without end it is rate/(2 (most-rate)).
// chance is how much of that chance there is, 1 for Poisson's arrivals and constant times:
// the squared coefficients of variation of both, together (Allen and Cunneen).
func queued(rate, most, users, away, chance float64) float64 {
	rate *= chance
	if rate <= 0 {
		return 0
	}
	spread := math.Sqrt(rate * away / 2)
	low := 2 * (most - users/away) / rate * spread // of q = 0 below the middle, in spreads
	if low > 8 {
		return spread * (1/low - 2/(low*low*low))
	}
	hazard := math.Sqrt(2/math.Pi) * math.Exp(-low*low/2) / math.Erfc(low/math.Sqrt2)
	if low < -8 {
		hazard = 0
	}
	return spread * (hazard - low)
}

// step is the time of a prefill step of n prompts, between whole numbers of them and no
// longer than a full one.
func (r *rates) step(n float64) unit.Seconds {
	if n >= r.full {
		return r.whole
	}
	return min(between(r.read, n, r.d.ReadTime), r.whole)
}

// most is Reads.
func (r *rates) most() float64 { return r.full / float64(r.whole) }

// token is the time per output token with n sequences on a worker, likewise.
func (r *rates) token(n float64) unit.Seconds { return between(r.tpot, n, r.d.TPOT) }

func between(m map[int]unit.Seconds, n float64, f func(int) unit.Seconds) unit.Seconds {
	low := math.Floor(n)
	t := cached(m, int(low), f)
	if n == low {
		return t
	}
	return t + unit.Seconds(n-low)*(cached(m, int(low)+1, f)-t)
}
