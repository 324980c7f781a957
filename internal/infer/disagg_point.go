package infer

import (
	"math"
	"sort"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// DisaggPoint is the steady state of a deployment in two roles under a fixed
// number of requests in flight.
type DisaggPoint struct {
	PrefillWorkers, DecodeWorkers int
	Concurrency                   int          // requests in flight, waiting ones included
	Sequences                     int          // decoding on each decode worker
	TTFT, TPOT                    unit.Seconds // means over the rounds of a run, as in Point
	Burst, Steady                 unit.Seconds // mean TTFT of the first round, sent all at once, and of the others
	Transfer                      unit.Seconds // part of Steady: the KV cache on its way
	Queue                         unit.Seconds // part of Steady: waiting for a worker or the link
	Requests                      float64      // per second
	TokensPerSecond               float64      // output
	TokensPerGPU                  float64      // output, per second and GPU of both roles
	PrefillBusy, LinkBusy         float64      // 0 to 1
	Full                          bool         // a role, the link or the cache takes no more: the rest of the requests waits
	Bound                         string       // prefill, decode, kv transfer or kv capacity: more of it would raise the throughput
}

// rates keeps step times that a point or a search asks for again and again.
type rates struct {
	d           *Disagg
	read        map[int]unit.Seconds
	tpot        map[int]unit.Seconds
	full        float64      // prompts that a prefill worker reads at a time
	whole, lone unit.Seconds // of so many, of one by itself
}

func newRates(d *Disagg) *rates {
	return &rates{d: d, read: map[int]unit.Seconds{}, tpot: map[int]unit.Seconds{}, full: d.full(), whole: d.whole(), lone: d.lone()}
}

func cached(m map[int]unit.Seconds, n int, f func(int) unit.Seconds) unit.Seconds {
	t, ok := m[n]
	if !ok {
		t = f(n)
		m[n] = t
	}
	return t
}

// Point is the steady state of x prefill and y decode workers with concurrency
// requests in flight, all at least 1.
func (d *Disagg) Point(x, y, concurrency int) DisaggPoint {
	return newRates(d).point(x, y, concurrency)
}

// point looks for the most sequences per decode worker whose round trip keeps no
// more than concurrency requests in flight. Requests in flight = requests/s x time
// in the system, Steady + (OSL-1) TPOT (Little's law), holds for what it returns: below
// saturation it sets the rate; where the prefill, the link or the KV cache allows no
// more, what is left over waits before its first token.
func (r *rates) point(x, y, concurrency int) DisaggPoint {
	d, flying := r.d, float64(concurrency)
	n := sort.Search(min(d.MaxDecode, concurrency/y), func(i int) bool {
		_, flight := r.at(x, y, i+1, concurrency)
		return flight > flying
	})
	p, low := r.at(x, y, max(n, 1), concurrency)
	p.Concurrency = concurrency
	most := p.Requests / max(p.PrefillBusy, p.LinkBusy) // what the prefill and the link allow
	if n == d.MaxDecode {
		most = min(most, p.Requests)
	} else if next, high := r.at(x, y, n+1, concurrency); flying > low && !math.IsInf(high, 1) {
		part := unit.Seconds((flying - low) / (high - low)) // of one more sequence per worker
		p.Steady += part * (next.Steady - p.Steady)
		p.TPOT += part * (next.TPOT - p.TPOT)
		p.Queue += part * (next.Queue - p.Queue)
	}
	answer := unit.Seconds(d.OSL-1) * p.TPOT
	p.scale(min(flying/float64(p.Steady+answer), most) / p.Requests)
	p.Full = flying > (1+saturated)*most*float64(p.Steady-p.Queue+answer) // more than the rate keeps in flight where none waits
	burst := r.burst(x, y, min(concurrency, y*d.MaxDecode))
	if over := unit.Seconds(flying/p.Requests) - answer - p.Steady; over > 0 {
		p.Full = p.Full || over > saturated*(p.Steady+answer)
		p.Queue, p.Steady = p.Queue+over, p.Steady+over
		if n == d.MaxDecode {
			burst += over
		}
	}
	p.Burst = max(burst, p.Steady)
	p.TTFT = overRounds(p.Steady, p.Burst, DefaultRounds)
	p.rate(d, n == d.MaxDecode)
	return p
}

// saturated is the wait over the time in the system, and the requests in flight over those
// that a full role serves without any, from which it counts as a queue; what is less is the
// interpolation's.
const saturated = 1e-2

// burst is the mean time to the first token of n requests that come at once: full steps
// follow one another on x prefill workers, and caches on the links of y decode workers.
func (r *rates) burst(x, y, n int) unit.Seconds {
	d := r.d
	mine, full := (n+x-1)/x, d.Prompts()
	last := mine - (mine-1)/full*full // prompts of the last step
	steps := unit.Seconds((mine - 1) / full)
	step, end := cached(r.read, full, d.ReadTime), cached(r.read, last, d.ReadTime)
	sum := unit.Seconds(full)*step*steps*(steps+1)/2 + unit.Seconds(last)*(steps*step+end)
	read := sum / unit.Seconds(mine)
	sent := cached(r.read, min(mine, full), d.ReadTime) + d.Transfer*unit.Seconds(float64(n-1)/2/d.ways(x, y))
	return d.Entry + max(read, sent) + d.Transfer
}

// ways is how many caches may travel at once: on the GPUs of the side with fewer, each
// with its link.
func (d *Disagg) ways(x, y int) float64 {
	return float64(min(x*d.PrefillGPUs, y*d.DecodeGPUs)) / float64(max(d.TransferGPUs, 1))
}

// scale multiplies the request rate.
func (p *DisaggPoint) scale(by float64) {
	p.Requests, p.PrefillBusy, p.LinkBusy = p.Requests*by, p.PrefillBusy*by, p.LinkBusy*by
}

// at is the state with n sequences on each decode worker, and the requests in
// flight that hold it up; +Inf where the prefill or the link cannot.
//
// Of c requests in flight each finds the load of the c - 1 others (the arrival theorem of
// closed networks): a lone one waits for nobody.
func (r *rates) at(x, y, n, c int) (DisaggPoint, float64) {
	d := r.d
	together := min(d.Prompts(), (c+x-1)/x) // prompts of equal users in a step of a prefill worker
	tpot := r.token(d.seen(n, x, y, c, together))
	p := DisaggPoint{PrefillWorkers: x, DecodeWorkers: y, Sequences: n, TPOT: tpot, Transfer: d.Transfer}
	answer := unit.Seconds(d.OSL-1) * tpot
	p.Requests = float64(min(y*n, c)) / float64(answer)
	p.PrefillBusy = p.Requests / float64(x) / r.most()
	p.LinkBusy = p.Requests * float64(d.Transfer) / d.ways(x, y)
	if p.PrefillBusy >= 1 || p.LinkBusy >= 1 {
		p.Steady = d.Entry + r.whole + d.Transfer
		return p, math.Inf(1)
	}
	others := float64(c-1) / float64(c)
	wait, read := r.reading(x, others*p.Requests/float64(x), others*p.PrefillBusy, float64(c-1)/float64(x), answer+d.Entry+d.Transfer)
	if d.InStep {
		wait, read = 0, cached(r.read, together, d.ReadTime)
	}
	p.Queue = wait + d.Transfer*waiting(others*p.LinkBusy)
	p.Steady = d.Entry + p.Queue + read + d.Transfer
	return p, p.Requests * float64(p.Steady+answer)
}

// seen is how many sequences generate on a worker in the steps that one of them sees, of
// which each of y holds n on average: itself and of the other users those who generate.
// Equal users come with those who were read together with them; the other groups, who
// are not read at the same time, are all away while this one generates.
func (d *Disagg) seen(n, x, y, c, together int) float64 {
	users := float64(c)
	away := max(1-float64(n*y)/users, 0) // share of a user's time
	seen := float64(n) + away/float64(y)
	if own := float64(min(together*x, c)); d.InStep {
		there := max(1-away/(1-away), 0) // share of this group's answers
		seen = max((own+(users-own)*there)/float64(y), float64(n))
	}
	return min(seen, float64(d.MaxDecode))
}

// rate fills the throughputs and what binds; full tells that the decode workers'
// KV caches hold no more.
func (p *DisaggPoint) rate(d *Disagg, full bool) {
	p.TokensPerSecond = p.Requests * float64(d.OSL)
	p.TokensPerGPU = p.TokensPerSecond / float64(p.PrefillWorkers*d.PrefillGPUs+p.DecodeWorkers*d.DecodeGPUs)
	switch {
	case p.LinkBusy > max(p.PrefillBusy, bindsFrom):
		p.Bound = "kv transfer"
	case p.PrefillBusy > bindsFrom:
		p.Bound = "prefill"
	case full:
		p.Bound = "kv capacity"
	default:
		p.Bound = "decode"
	}
}

// bindsFrom is the load of a role from which its queue, not the decode's speed,
// holds requests up.
const bindsFrom = 0.9
