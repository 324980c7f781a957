package deploy

import (
	"cmp"
	"context"
	"slices"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// finest is the share of a load to which refine narrows the next that misses.
const finest = 1.0 / 32

// edge is one layout between the last load of the question at which it meets the
// objective and the first at which it misses.
type edge struct {
	meets  *Point
	misses int     // requests in flight
	most   float64 // output per GPU there, more than any load between gives
}

// refine looks between the loads of the question, which double, for the one at which a
// layout still meets the objective and gives most output per GPU. Only layouts that give
// more at their first load that misses than the best so far can; each is bisected, and
// nil is the answer where none is better than the best of all.
func (o *Outcome) refine(ctx context.Context, q *Question, cal *infer.Calibration, all []*Point) (*Point, error) {
	var err error
	best := pick(all, q.SLO)
	if best == nil || !q.SLO.Meets(best) {
		return nil, nil
	}
	start := best
	list := edges(q, all)
	slices.SortStableFunc(list, func(a, b edge) int { return cmp.Compare(b.most, a.most) })
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if list[i].most <= best.PerGPU() {
			break
		}
		p, err := list[i].last(q, o.Variant, cal)
		if err == nil {
			p, err = q.unqueued(o.Variant, p, cal)
		}
		if err != nil {
			return nil, err
		}
		if better(p, best, q.SLO) {
			best = p
		}
	}
	if best, err = q.unqueued(o.Variant, best, cal); err != nil {
		return nil, err
	}
	if best == start {
		return nil, nil
	}
	best.Refined = true
	return best, nil
}

// unqueued is p, or where requests wait for a place in it and it is the better, its layout at the
// highest load that meets the objective while none does. An objective that any wait meets would else
// be met by a queue, whose place a load just below it takes without one.
func (q *Question) unqueued(v *Variant, p *Point, cal *infer.Calibration) (*Point, error) {
	if !p.Queued {
		return p, nil
	}
	b, err := q.rebuild(v, p, cal)
	if err != nil {
		return nil, err
	}
	step := p.step()
	best := p
	low, high := 0, p.Concurrency/step
	for high-low > max(1, int(finest*float64(low)/2)) {
		n := (low + high) / 2
		x, err := b.at(n*step, q.slots(p.Layout.Serving))
		if err != nil {
			return nil, err
		}
		if x.Queued || !q.SLO.Meets(x) {
			high = n
			continue
		}
		if low = n; better(x, best, q.SLO) {
			best = x
		}
	}
	return best, nil
}

// step is the requests in flight by which replicas stay evenly loaded.
func (p *Point) step() int {
	if p.Layout.Split != nil {
		return 1
	}
	return p.Layout.Replicas
}

// edges lists where the layouts of all points cross the objective.
func edges(q *Question, all []*Point) (list []edge) {
	type key struct {
		layout string
		chunk  int64
	}
	at := map[key]int{}
	for _, p := range all {
		k := key{p.Layout.String(), p.Chunk}
		i, ok := at[k]
		if !ok {
			i = len(list)
			at[k] = i
			list = append(list, edge{})
		}
		e := &list[i]
		switch {
		case q.SLO.Meets(p):
			if e.meets == nil || p.Concurrency > e.meets.Concurrency || p.PerGPU() > e.meets.PerGPU() {
				e.meets = p
			}
			if p.Concurrency >= e.misses {
				e.misses, e.most = 0, 0 // a batch limit keeps what the point before missed
			}
		case p.Fits && e.misses == 0:
			e.misses, e.most = p.Concurrency, p.PerGPU()
		}
	}
	return slices.DeleteFunc(list, func(e edge) bool { return e.meets == nil || e.misses <= e.meets.Concurrency })
}

// last is the point of the layout at the highest load that meets the objective, to a part
// of finest.
func (e *edge) last(q *Question, v *Variant, cal *infer.Calibration) (*Point, error) {
	at, err := q.pricer(v, e.meets, cal)
	if err != nil {
		return nil, err
	}
	step := e.meets.step()
	best := e.meets
	low, high := best.Concurrency/step, e.misses/step
	for high-low > max(1, int(finest*float64(low))) {
		n := (low + high) / 2
		p, err := at(n * step)
		if err != nil {
			return nil, err
		}
		if !q.SLO.Meets(p) {
			high = n
			continue
		}
		if low = n; cheaper(p, best) {
			best = p
		}
	}
	return best, nil
}

// pricer prices the layout of p and its limit of tokens per step at other loads, with a
// limit of sequences where that keeps the objective.
func (q *Question) pricer(v *Variant, p *Point, cal *infer.Calibration) (func(n int) (*Point, error), error) {
	b, err := q.rebuild(v, p, cal)
	if err != nil {
		return nil, err
	}
	return func(n int) (*Point, error) {
		plain, err := b.at(n, q.slots(p.Layout.Serving))
		if err != nil || b.in == nil || q.Slots > 0 || q.SLO.Meets(plain) {
			return plain, err
		}
		held, err := b.in.limited(&b.q, v, plain)
		return cmp.Or(held, plain), err
	}, nil
}
