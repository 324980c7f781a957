package deploy

import (
	"errors"
	"math"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// Holds is the most requests of the question's length, on average half answered, whose caches v's cluster holds at
// once, over the layouts that the question leaves open: beyond it every load waits. 0 where
// nothing fits. Errors are bad input.
func (q *Question) Holds(v *Variant) (most int64, err error) {
	of := func(x plan.Serving, instances int) error {
		in, err := q.Build(v, x)
		if full := (*infer.MemoryError)(nil); errors.As(err, &full) {
			return nil
		} else if err != nil {
			return err
		}
		n := in.Engine.Holds(q.ISL, q.OSL)
		if n > math.MaxInt32 { // a state that does not grow with the request
			n = math.MaxInt32
		}
		most = max(most, copies(n, max(instances, 1)))
		return nil
	}
	if d := q.Plan.Disaggregated(); d != nil {
		return most, of(d.Decode, max(d.DecodeWorkers, 1))
	}
	fixed := q.Plan.Whole
	s, err := NewSpace(q.Model, v.Cluster, int(v.Cluster.GPUs), fixed)
	if err != nil {
		return 0, err
	}
	for _, x := range s.Instances {
		n := int(v.Cluster.GPUs) / x.GPUs()
		if fixed.Has(plan.KeyReplicas) {
			n = fixed.Serving.Replicas
		}
		if err := of(x, n); err != nil {
			return 0, err
		}
	}
	return most, nil
}
