package deploy

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// Outcome is the answer for one variant.
type Outcome struct {
	Variant *Variant
	// Points is the best layout at each concurrency, of the question and refined, under its SLO;
	// where none meets it the one that misses by least, where none fits the one that
	// lacks least memory.
	Points []*Point
	Best   *Point   // of Points
	Front  []*Point // of everything priced that fits
	Count  Count
	// Illegal says why the first illegal instance is; nil where none was.
	Illegal     error
	Calibration *infer.Calibration // nil without measurements
	Profile     *infer.Profile     // of the engine behind Best
}

// Count is what became of the candidates.
type Count struct {
	Illegal  int // instances, refused before pricing
	TooLarge int // instances whose weights, or whose cache of one request, do not fit
	Priced   int // layouts at one concurrency each
	Split    int // of these, in two roles
	Missed   int // of these, that miss the SLO
}

// Meets tells whether the best point keeps the SLO.
func (o *Outcome) Meets(s SLO) bool { return o.Best != nil && s.Meets(o.Best) }

// At is the point with so many requests in flight, nil where none was asked for.
func (o *Outcome) At(concurrency int) *Point {
	for _, p := range o.Points {
		if p.Concurrency == concurrency {
			return p
		}
	}
	return nil
}

// Run searches the layouts that the question leaves open. Errors are bad input;
// nothing that fits or meets the SLO is none. A cancelled ctx is an error.
func Run(ctx context.Context, q *Question, v *Variant, progress func(done, all int)) (*Outcome, error) {
	o := &Outcome{Variant: v}
	candidates, err := o.candidates(ctx, q, v)
	if err != nil {
		return nil, err
	}
	if len(q.Measured) > 0 {
		if o.Calibration, err = calibrate(q, v, candidates); err != nil {
			return nil, err
		}
	}
	all, err := o.price(ctx, q, candidates, progress)
	if err != nil {
		return nil, err
	}
	if q.Between && q.SLO.Any() {
		p, err := o.refine(ctx, q, o.Calibration, all)
		if err != nil {
			return nil, err
		}
		if p != nil {
			all = append(all, p)
		}
	}
	o.conclude(q, all)
	return o, nil
}

// candidates lists what is priced: aggregated instances, and in two roles the
// deployment that the question names or, where it names no layout, pairs of
// instances.
func (o *Outcome) candidates(ctx context.Context, q *Question, v *Variant) ([]candidate, error) {
	if d := q.Plan.Disaggregated(); d != nil {
		return splitCandidates(q, v, q.Plan)
	}
	fixed := q.Plan.Whole
	s, err := NewSpace(q.Model, v.Cluster, int(v.Cluster.GPUs), fixed)
	if err != nil {
		return nil, err
	}
	o.Count.Illegal, o.Illegal = s.Illegal, s.Example
	list := make([]candidate, len(s.Instances))
	for i, x := range s.Instances {
		list[i] = candidate{instance: x, fixed: fixed}
	}
	if !open(fixed) || len(q.Measured) > 0 {
		return list, nil
	}
	if q.Chunk == 0 {
		for _, x := range s.Instances {
			for _, chunk := range chunks {
				list = append(list, candidate{instance: x, fixed: fixed, chunk: chunk})
			}
		}
	}
	more, err := pairs(ctx, q, v, s.Instances)
	return append(list, more...), err
}

// chunks are the limits of tokens per step that a search tries beside the engine's
// own: small ones keep steps short beside long prompts, large ones read them faster.
var chunks = []int64{2048, 16384}

// open tells whether the user named no key of a layout.
func open(fixed *plan.FixedServing) bool {
	for _, k := range []plan.Key{plan.KeyTP, plan.KeyPP, plan.KeyDP, plan.KeyEP, plan.KeyDCP, plan.KeyReplicas, plan.KeyRedundant} {
		if fixed.Has(k) {
			return false
		}
	}
	return true
}

// candidate is an instance whose replicas are open.
type candidate struct {
	instance plan.Serving
	fixed    *plan.FixedServing
	split    *plan.Disaggregated
	chunk    int64 // most tokens of a step; 0 = the question's
}

// price prices every candidate at every concurrency, on all cores. The order of
// the result does not depend on the workers.
func (o *Outcome) price(ctx context.Context, q *Question, list []candidate, progress func(done, all int)) ([]*Point, error) {
	results := make([][]*Point, len(list))
	var done atomic.Int64
	err := each(ctx, len(list), func(i int) (err error) {
		results[i], err = list[i].price(q, o.Variant, o.Calibration)
		if n := int(done.Add(1)); progress != nil {
			progress(n, len(list))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []*Point
	for _, points := range results {
		if len(points) > 0 && !points[0].Fits {
			o.Count.TooLarge++
		}
		all = append(all, points...)
	}
	return all, nil
}

// conclude picks the answers among all points.
func (o *Outcome) conclude(q *Question, all []*Point) {
	at := map[int][]*Point{}
	for _, p := range all {
		if o.Count.Priced++; !q.SLO.Meets(p) {
			o.Count.Missed++
		}
		if p.Layout.Split != nil {
			o.Count.Split++
		}
		at[p.Concurrency] = append(at[p.Concurrency], p)
	}
	for _, c := range slices.Sorted(maps.Keys(at)) {
		if p := pick(at[c], q.SLO); p != nil {
			o.Points = append(o.Points, p)
		}
	}
	o.Best = pick(o.Points, q.SLO)
	o.Front = Front(served(all))
}
