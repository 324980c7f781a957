package deploy

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// calibrate fits the correction to what was measured at the first concurrency of
// the question, on the one layout that it names.
func calibrate(q *Question, v *Variant, list []candidate) (*infer.Calibration, error) {
	if len(list) != 1 || list[0].split != nil {
		return nil, fmt.Errorf("--calibrate: the measured points belong to one layout and the plan leaves %d open: name tp, pp and dp in --plan", len(list))
	}
	x := list[0].instance
	return q.Calibrate(v, x, max(1, replicas(list[0].fixed, &x, int(v.Cluster.GPUs), q.Concurrency[0])[0]))
}

// Calibrate fits the correction of instances of layout x to what was measured at the
// first concurrency of the question, which so many instances shared.
func (q *Question) Calibrate(v *Variant, x plan.Serving, instances int) (*infer.Calibration, error) {
	in, err := q.Build(v, x)
	if err != nil {
		if _, full := tooLarge(err, 0); full {
			return nil, fmt.Errorf("--calibrate: the measured plan does not fit: %w", err)
		}
		return nil, err
	}
	n := (q.Concurrency[0] + instances - 1) / instances
	b := &infer.Batch{Decode: n, DecodeContext: int64(n) * (q.ISL + q.OSL/2)}
	return infer.Calibrate(q.AtRTT(v, x), b, in.spec.Tokens(), q.Measured)
}

// AtRTT builds the instance of x again on networks with other round trips.
func (q *Question) AtRTT(v *Variant, x plan.Serving) infer.AtRTT {
	return func(rtt unit.Seconds) (infer.Stepper, error) {
		w := *v
		w.RTT = &rtt
		in, err := q.Build(&w, x)
		if err != nil {
			return nil, err
		}
		return in.Stepper, nil
	}
}
