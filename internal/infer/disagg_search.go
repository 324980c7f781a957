package infer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Ratios finds the best use of up to gpus GPUs: every number of prefill and decode
// workers that fills them, each at the largest load whose mean TTFT and TPOT keep
// to the limits (0 = no limit). The list is sorted by output tokens/s per GPU of
// the whole deployment, best first; numbers of workers that keep to the limits at
// no load are left out.
func (d *Disagg) Ratios(gpus int, ttft, tpot unit.Seconds) ([]DisaggPoint, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if gpus < d.PrefillGPUs+d.DecodeGPUs {
		return nil, fmt.Errorf("%d GPUs for a prefill worker of %d and a decode worker of %d: give at least %d",
			gpus, d.PrefillGPUs, d.DecodeGPUs, d.PrefillGPUs+d.DecodeGPUs)
	}
	r := newRates(d)
	var out []DisaggPoint
	for x := 1; x*d.PrefillGPUs+d.DecodeGPUs <= gpus; x++ {
		y := (gpus - x*d.PrefillGPUs) / d.DecodeGPUs
		if p, ok := r.loaded(x, y, ttft, tpot); ok {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b DisaggPoint) int { return cmp.Compare(b.TokensPerGPU, a.TokensPerGPU) })
	return out, nil
}

// loaded is the best of the loads of x and y workers that keep to the limits:
// sequences per decode worker double, then close in on the last that does.
func (r *rates) loaded(x, y int, ttft, tpot unit.Seconds) (best DisaggPoint, found bool) {
	try := func(n int) bool {
		p, ok := r.state(x, y, n)
		ok = ok && (ttft == 0 || p.TTFT <= ttft) && (tpot == 0 || p.TPOT <= tpot)
		if ok && (!found || p.TokensPerGPU > best.TokensPerGPU) {
			best, found = p, true
		}
		return ok
	}
	low, high := 0, 1
	for high < r.d.MaxDecode && try(high) {
		low, high = high, min(2*high, r.d.MaxDecode)
	}
	if try(high) {
		return best, found
	}
	for high-low > 1 {
		if middle := (low + high) / 2; try(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return best, found
}

// state is a point given by its decoding sequences; ok is false where the prefill
// or the link cannot keep that many supplied.
func (r *rates) state(x, y, n int) (p DisaggPoint, ok bool) {
	p.Concurrency = y * n
	for range flights {
		c := p.Concurrency
		next, flight := r.at(x, y, n, c)
		if flight > maxFlight {
			return next, false
		}
		p = next
		if p.Concurrency = max(int(flight+0.5), y*n); p.Concurrency == c {
			break
		}
	}
	p.rate(r.d, n == r.d.MaxDecode)
	return p, true
}

// flights bounds the search for the requests in flight that keep their own number up:
// more of them find more others in front.
const flights = 16

// maxFlight bounds the requests in flight of a point: beyond it the queue has
// taken over.
const maxFlight = 1 << 40
