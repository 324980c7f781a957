package deploy

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// price is the candidate at every concurrency of the question and every number of
// replicas that is open, or one point for each concurrency that does not fit.
func (c *candidate) price(q *Question, v *Variant, cal *infer.Calibration) ([]*Point, error) {
	if c.split != nil {
		return c.priceSplit(q, v)
	}
	if c.chunk > 0 {
		of := *q
		of.Chunk = c.chunk
		q = &of
	}
	in, err := q.Build(v, c.instance)
	if err != nil {
		return misfits(q, v, Layout{Serving: c.instance}, in, err)
	}
	in.Correct(cal)
	var points []*Point
	for _, n := range q.Concurrency {
		for _, r := range replicas(c.fixed, &c.instance, int(v.Cluster.GPUs), n) {
			x := c.instance
			x.Replicas = r
			p, err := in.point(q, v, x, n, q.slots(x))
			if err != nil {
				return nil, err
			}
			points = append(points, p)
			if q.Slots > 0 {
				continue
			}
			if p, err = in.limited(q, v, p); err != nil {
				return nil, err
			} else if p != nil {
				points = append(points, p)
			}
		}
	}
	return points, nil
}

// Correct lets measured points correct the instance's steps; nil corrects nothing.
func (in *Instance) Correct(cal *infer.Calibration) {
	if cal != nil {
		clear(in.solved)
		clear(in.full)
		in.corrected = true
		in.Stepper = cal.Correct(in.Stepper, in.spec.Tokens())
	}
}

// misfits is the points of a layout that has no room, one per concurrency; any
// other error stays one.
func misfits(q *Question, v *Variant, l Layout, in *Instance, err error) ([]*Point, error) {
	if in == nil || in.Engine == nil {
		return nil, err
	}
	m := in.Engine.Memory()
	need, ok := tooLarge(err, m.Budget)
	if !ok {
		return nil, err
	}
	var points []*Point
	for _, n := range q.Concurrency {
		points = append(points, &Point{Layout: l, Concurrency: n, Memory: m, Need: need, Price: v.Cluster.PricePerGPUHour, Free: v.Cluster.Free,
			Warnings: in.Engine.Warnings(), Assumptions: in.Engine.Assumptions()})
	}
	return points, nil
}

// point is the steady state of x's replicas, which share n requests evenly and
// generate for at most slots of them at once each; 0 = the engine's own limit.
func (in *Instance) point(q *Question, v *Variant, x plan.Serving, n, slots int) (*Point, error) {
	p, err := in.tried(q, v, x, n, slots)
	if err != nil {
		return nil, err
	}
	full, err := in.Saturate(q, int64(slots))
	p.Full = full.Times(x.Replicas)
	return p, err
}

// tried is point without its capacity, which takes several solutions of the steady state.
func (in *Instance) tried(q *Question, v *Variant, x plan.Serving, n, slots int) (*Point, error) {
	each := int64((n + x.Replicas - 1) / x.Replicas)
	s, err := in.steady(q, each, int64(slots))
	if err != nil {
		return nil, err
	}
	length := q.ISL + q.OSL
	m := in.Engine.Memory()
	share := float64(n) / (float64(each) * float64(x.Replicas)) // below 1 where n does not divide
	p := &Point{Layout: Layout{Serving: x}, Concurrency: n, TTFT: s.TTFT, TPOT: s.TPOT, Output: s.Output * float64(x.Replicas) * share,
		Fits: true, Memory: m, Need: m.Parts.Total(), Tokens: copies(in.Engine.KVTokens(), x.Replicas), Chunk: q.Chunk, Slots: slots,
		Most: copies(in.Engine.MaxConcurrency(length), x.Replicas), Batch: max(1, int(s.Decoding+0.5)), Decode: s.Step, Steady: s,
		Price: v.Cluster.PricePerGPUHour, Free: v.Cluster.Free, Warnings: in.Engine.Warnings(), Assumptions: in.Engine.Assumptions()}
	p.balance(in, s.Decoding*(1+float64(in.drafts())))
	p.floor = s.Step.Floor / unit.Seconds(in.spec.Tokens())
	if !in.corrected {
		p.Ranges = in.Engine.Ranges()
	}
	p.Queued = s.Limit != infer.NoLimit
	p.Bound = p.binds()
	p.wire(in)
	return p, nil
}

// wire fills in the share of the time per token that waits on the latency between nodes.
func (p *Point) wire(in *Instance) {
	if p.TPOT > 0 {
		p.Wire = float64(p.Decode.Wire) / in.spec.Tokens() / float64(p.TPOT)
	}
}

// balance fills in how evenly the experts are loaded by a decode step of so many tokens.
func (p *Point) balance(in *Instance, tokens float64) {
	if b := in.Engine.Setup().Loads; b != nil {
		p.Balance, p.Fullest = b, b.At(tokens)
	}
}

func (in *Instance) drafts() int {
	if in.spec == nil {
		return 0
	}
	return in.spec.Drafts
}

// copies is n in each of so many instances; models whose state does not grow hold
// any number, which stays the largest there is.
func copies(n int64, instances int) int64 {
	if n > math.MaxInt64/int64(instances) {
		return math.MaxInt64
	}
	return n * int64(instances)
}

// load is a closed loop on one instance.
type load struct{ clients, slots int64 }

// steady solves a closed loop once: replicas share what they are given, so few
// loads come back for many numbers of requests in flight.
func (in *Instance) steady(q *Question, clients, slots int64) (infer.Point, error) {
	key := load{clients, slots}
	if s, ok := in.solved[key]; ok {
		return s, nil
	}
	s, err := infer.Steady(in.Engine, &infer.Load{ISL: q.ISL, OSL: q.OSL, Cached: q.Cached, Concurrency: clients, Spec: in.spec, Stepper: in.Stepper, Slots: slots, Fixed: !q.Varied, Spread: q.Spread})
	if err == nil {
		in.solved[key] = s
	}
	return s, err
}

// Saturate is the capacity of an instance for the question's requests, once for each limit
// of sequences.
func (in *Instance) Saturate(q *Question, slots int64) (infer.Capacity, error) {
	if c, ok := in.full[slots]; ok {
		return c, nil
	}
	c, err := infer.Saturate(in.Engine, &infer.Load{ISL: q.ISL, OSL: q.OSL, Cached: q.Cached, Spec: in.spec, Stepper: in.Stepper, Slots: slots, Fixed: !q.Varied, Spread: q.Spread})
	if err == nil {
		in.full[slots] = c
	}
	return c, err
}

// binds names what binds a point: the queue first, then prompts, then the resource
// of a decode step.
func (p *Point) binds() string {
	switch {
	case p.Queued:
		return BoundQueue
	case p.Steady.Prompts > 0.5:
		return BoundPrefill
	case p.Decode.Bound() == cost.Latency && p.Decode.Parts[infer.Communication] < p.Decode.Parts[infer.Overhead]:
		return BoundOverhead
	}
	return p.Decode.Bound().String()
}
