package deploy

import "github.com/ridgeline/ridgeline/internal/unit"

// limited is the point with the largest batch limit that keeps the promised time
// per token, where p, without a limit, does not: requests then wait for their first
// token instead, as they do for room in a full cache. Nil where p needs no batch
// limit, none helps, or the wait breaks a promised time to the first token.
func (in *Instance) limited(q *Question, v *Variant, p *Point) (*Point, error) {
	most := int(p.Steady.Running)
	if q.SLO.TPOT <= 0 || p.TPOT <= q.SLO.TPOT || most < 2 || p.crowded(q) {
		return nil, nil
	}
	var err error
	try := func(slots int) *Point {
		var x *Point
		if x, err = in.tried(q, v, p.Layout.Serving, p.Concurrency, slots); err != nil {
			return p
		}
		return x
	}
	each := max(p.Layout.DP, 1) // a limit is one of each replica
	slots := each * last((most-1)/each, in.slots/each, func(n int) bool { return try(n*each).TPOT <= q.SLO.TPOT })
	if slots == 0 || err != nil {
		return nil, err
	}
	in.slots = slots
	if x := try(slots); err != nil || !q.SLO.Meets(x) {
		return nil, err
	}
	return in.point(q, v, p.Layout.Serving, p.Concurrency, slots)
}

// crowded tells that p's requests break the promises under any limit of sequences: at
// its capacity, which limits only lower, they are in flight longer than the promised
// time to the first token and the promised times of all the others (Little's law).
func (p *Point) crowded(q *Question) bool {
	if q.SLO.TTFT <= 0 || p.Full.Requests <= 0 {
		return false
	}
	flight := float64(p.Concurrency) / p.Full.Requests
	return unit.Seconds(flight) > q.SLO.TTFT+unit.Seconds(q.OSL-1)*q.SLO.TPOT
}

// last is the largest of 1 to n that keeps a promise which all smaller ones keep, 0 where
// none does. It looks around guess first, by steps that double, since answers to
// questions like the one before lie close together.
func last(n, guess int, keeps func(int) bool) int {
	low, high := 0, n+1 // low keeps, high does not
	for step, at := 1, min(max(guess, 1), n); high-low > 1; step *= 2 {
		if keeps(at) {
			low = at
			at += step
		} else {
			high = at
			at -= step
		}
		if at <= low || at >= high {
			break
		}
	}
	for high-low > 1 {
		if at := (low + high) / 2; keeps(at) {
			low = at
		} else {
			high = at
		}
	}
	return low
}
