package deploy

import "github.com/ridgeline/ridgeline/internal/infer"

// rebuilt is the layout of a point with its limit of tokens per step, to be priced at other
// loads or for another variant.
type rebuilt struct {
	q     Question
	v     *Variant
	of    Layout
	roles *roles    // of two roles
	in    *Instance // of one
}

func (q *Question) rebuild(v *Variant, p *Point, cal *infer.Calibration) (b *rebuilt, err error) {
	b = &rebuilt{q: *q, v: v, of: p.Layout}
	b.q.Chunk = p.Chunk
	if p.Layout.Split != nil {
		b.roles, _, err = b.q.buildSplit(v, p.Layout.Split)
		return b, err
	}
	x := p.Layout.Serving
	x.Replicas = 1
	if b.in, err = b.q.Build(v, x); err == nil {
		b.in.Correct(cal)
	}
	return b, err
}

// at is the point with n requests in flight, of one role with at most so many sequences
// on an instance (0 = as many as come).
func (b *rebuilt) at(n, slots int) (*Point, error) {
	if s := b.of.Split; s != nil {
		return b.roles.point(b.v, s.PrefillWorkers, s.DecodeWorkers, n), nil
	}
	return b.in.point(&b.q, b.v, b.of.Serving, n, slots)
}

// Again prices p's layout, limits and load for another variant, such as a slower
// network.
func (q *Question) Again(v *Variant, p *Point, cal *infer.Calibration) (*Point, error) {
	b, err := q.rebuild(v, p, cal)
	if err != nil {
		return nil, err
	}
	return b.at(p.Concurrency, p.Slots)
}
