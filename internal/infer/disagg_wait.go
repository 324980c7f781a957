package infer

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// waiting is the mean wait at load rho in service times, of random arrivals at a server
// of constant time (Pollaczek-Khinchine).
func waiting(rho float64) unit.Seconds { return unit.Seconds(rho / (2 * (1 - rho))) }

// grouping is the rounds in which the mean step of a prefill worker is found.
const grouping = 8

// reading is how long a prompt waits for a prefill worker that others send requests/s
// and load to rho, and how long the step that reads it takes. A step reads all who came
// during the one before, m on average by Poisson's law, or the first who comes after it:
//
//	prompts in a step = m + exp(-m),  m = rate x step,  at most the fit of a full step
//	wait = busy step/2 + full step/fit rho^sqrt(2(fit+1)) / (2(1-rho))
//
// busy is the share of the time that steps take. The last term is those whom a full step
// leaves behind, Sakasegawa's form for queues with several places [Ann. Inst. Stat. Math.
// 29 (1977) 67]; with one prompt in a step the sum is Pollaczek and Khinchine's wait.
func (r *rates) reading(rate, rho float64) (wait, read unit.Seconds) {
	full := float64(r.d.Prompts())
	step, came, prompts := r.step(1), 0.0, 1.0
	for range grouping {
		came = rate * float64(step)
		prompts = min(came+math.Exp(-came), full)
		step = r.step(prompts)
	}
	busy := unit.Seconds(min(came/prompts, 1))
	left := math.Pow(rho, math.Sqrt(2*(full+1))) / (2 * (1 - rho))
	wait = busy*step/2 + r.step(full)*unit.Seconds(left/full)
	return wait, busy*r.step(min(1+came, full)) + (1-busy)*r.step(1)
}

// step is the time of a prefill step of n prompts, between whole numbers of them.
func (r *rates) step(n float64) unit.Seconds {
	low := math.Floor(n)
	t := cached(r.read, int(low), r.d.ReadTime)
	if n == low {
		return t
	}
	return t + unit.Seconds(n-low)*(cached(r.read, int(low)+1, r.d.ReadTime)-t)
}
