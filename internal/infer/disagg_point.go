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
	Concurrency                   int // requests in flight, waiting ones included
	Sequences                     int // decoding on each decode worker
	TTFT, TPOT                    unit.Seconds
	Transfer                      unit.Seconds // part of TTFT: the KV cache on its way
	Queue                         unit.Seconds // part of TTFT: waiting for a worker or the link
	Requests                      float64      // per second
	TokensPerSecond               float64      // output
	TokensPerGPU                  float64      // output, per second and GPU of both roles
	LowTokensPerGPU               float64      // what the weakest real runs keep of it; see Reached
	PrefillBusy, LinkBusy         float64      // 0 to 1
	Bound                         string       // prefill, decode, kv transfer or kv capacity: more of it would raise the throughput
}

// rates keeps step times that a point or a search asks for again and again.
type rates struct {
	d    *Disagg
	read map[int]unit.Seconds
	tpot map[int]unit.Seconds
}

func newRates(d *Disagg) *rates {
	return &rates{d: d, read: map[int]unit.Seconds{}, tpot: map[int]unit.Seconds{}}
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
// in the system (Little's law) holds for what it returns: below saturation it sets
// the rate; where the prefill, the link or the KV cache allows no more, what is
// left over waits before its first token.
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
		p.TTFT += part * (next.TTFT - p.TTFT)
		p.TPOT += part * (next.TPOT - p.TPOT)
		p.Queue += part * (next.Queue - p.Queue)
	}
	answer := unit.Seconds(d.OSL-1) * p.TPOT
	p.scale(min(flying/float64(p.TTFT+answer), most) / p.Requests)
	if over := unit.Seconds(flying/p.Requests) - answer - p.TTFT; over > 0 {
		p.Queue, p.TTFT = p.Queue+over, p.TTFT+over
	}
	p.rate(d, n == d.MaxDecode)
	return p
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
	tpot := cached(r.tpot, n, d.TPOT)
	p := DisaggPoint{PrefillWorkers: x, DecodeWorkers: y, Sequences: n, TPOT: tpot, Transfer: d.Transfer}
	answer := unit.Seconds(d.OSL-1) * tpot
	p.Requests = float64(min(y*n, c)) / float64(answer)
	full := d.Prompts()
	step := cached(r.read, full, d.ReadTime)
	p.PrefillBusy = p.Requests / float64(x) * float64(step) / float64(full)
	links := float64(min(x*d.PrefillGPUs, y*d.DecodeGPUs)) // GPUs of the side with fewer, each with its link
	p.LinkBusy = p.Requests * float64(d.Transfer) * float64(d.TransferGPUs) / links
	if p.PrefillBusy >= 1 || p.LinkBusy >= 1 {
		p.TTFT = d.Entry + step + d.Transfer
		return p, math.Inf(1)
	}
	others := float64(c-1) / float64(c)
	wait, read := r.reading(others*p.Requests/float64(x), others*p.PrefillBusy, float64(c-1)/float64(x), answer+d.Entry+d.Transfer)
	if d.InStep {
		wait, read = 0, cached(r.read, min(full, (c+x-1)/x), d.ReadTime)
	}
	p.Queue = wait + d.Transfer*waiting(others*p.LinkBusy)
	p.TTFT = d.Entry + p.Queue + read + d.Transfer
	return p, p.Requests * float64(p.TTFT+answer)
}

// rate fills the throughputs and what binds; full tells that the decode workers'
// KV caches hold no more.
func (p *DisaggPoint) rate(d *Disagg, full bool) {
	p.TokensPerSecond = p.Requests * float64(d.OSL)
	p.TokensPerGPU = p.TokensPerSecond / float64(p.PrefillWorkers*d.PrefillGPUs+p.DecodeWorkers*d.DecodeGPUs)
	p.LowTokensPerGPU = Reached * p.TokensPerGPU
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
