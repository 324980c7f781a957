package deploy

import "github.com/ridgeline/ridgeline/internal/infer"

// Again prices p's layout, limits and load for another variant, such as a slower
// network.
func (q *Question) Again(v *Variant, p *Point, cal *infer.Calibration) (*Point, error) {
	of := *q
	of.Chunk = p.Chunk
	if s := p.Layout.Split; s != nil {
		r, _, err := of.buildSplit(v, s)
		if err != nil {
			return nil, err
		}
		return r.point(v, s.PrefillWorkers, s.DecodeWorkers, p.Concurrency), nil
	}
	x := p.Layout.Serving
	x.Replicas = 1
	in, err := of.Build(v, x)
	if err != nil {
		return nil, err
	}
	in.Correct(cal)
	return in.point(&of, v, p.Layout.Serving, p.Concurrency, p.Slots)
}
