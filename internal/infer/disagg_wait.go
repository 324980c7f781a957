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

// reading is how long a prompt waits for a prefill worker that others send requests/s
// and load to rho, and how long the step that reads it takes. A step reads all who came
// during the one before, Poisson's number of mean m, or the first who comes after it:
//
//	prompts in a step = m + exp(-m),  m = rate x mean step,  at most the fit of a full step
//	wait = busy long/2 + full step/fit rho^sqrt(2(fit+1)) / (2(1-rho)),  long = mean of step^2 / mean step
//
// Means of steps are over that number, as replicas of DP attention step together: a prompt more
// than they are makes the step that reads it half as long again, and the next step read more.
// busy is the share of the time that steps take, long the one that runs when a prompt comes. The last
// term is those whom a full step leaves behind, Sakasegawa's form for queues with several places [Ann. Inst. Stat. Math.
// 29 (1977) 67]; with one prompt in a step the sum is Pollaczek and Khinchine's wait. It
// has no end as rho nears 1 only where requests come from outside: of a closed loop's
// users, others for each worker, who waits sends no more (see queued); away is how long
// they are elsewhere.
func (r *rates) reading(rate, rho, others float64, away unit.Seconds) (wait, read unit.Seconds) {
	full := float64(r.d.Prompts())
	step, long, came, prompts := r.step(1), unit.Seconds(0), 0.0, 1.0
	for range grouping {
		came = rate * float64(step)
		prompts = min(came+math.Exp(-came), full)
		last := step
		step, long = r.steps(0, came)
		if math.Abs(float64(step-last)) < 1e-3*float64(last) {
			break
		}
	}
	busy := unit.Seconds(min(came/prompts, 1))
	with, _ := r.steps(1, rate*float64(long))
	wait, read = busy*long/2, busy*with+(1-busy)*r.step(1)
	if rate > 0 {
		behind := queued(rate, full/float64(r.step(full)), others, float64(away+wait+read))
		wait += unit.Seconds(math.Pow(rho, math.Sqrt(2*(full+1))) * behind / rate)
	}
	return wait, read
}

// steps is the mean time of a step that reads own prompts and Poisson's number of others, mean on
// average, one prompt at least and no more than fit, and that of the steps which one who comes
// meets. Large numbers, of which each is like the next, are counted in strides.
func (r *rates) steps(own, mean float64) (step, met unit.Seconds) {
	full := float64(r.d.Prompts())
	spread := math.Sqrt(mean)
	stride := max(math.Floor(spread/8), 1)
	sum, square, weights := 0.0, 0.0, 0.0
	for k := math.Floor(max(0, mean-tails*spread)); k <= mean+tails*spread+1; k += stride {
		gamma, _ := math.Lgamma(k + 1)
		p := math.Exp(k*math.Log(max(mean, math.SmallestNonzeroFloat64)) - mean - gamma)
		t := float64(r.step(min(max(own+k, 1), full)))
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
func queued(rate, most, users, away float64) float64 {
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

// step is the time of a prefill step of n prompts, between whole numbers of them.
func (r *rates) step(n float64) unit.Seconds { return between(r.read, n, r.d.ReadTime) }

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
