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
	if len(list) == 1 && list[0].split != nil {
		return nil, fmt.Errorf("--calibrate: a measured time per token belongs to one engine and the plan has two roles: give a plan of one role")
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("--calibrate: the measured points belong to one layout and the plan leaves %d open: name tp, pp and dp in --plan", len(list))
	}
	x := list[0].instance
	return q.Calibrate(v, x, max(1, replicas(list[0].fixed, &x, int(v.Cluster.GPUs), q.Concurrency[0])[0]))
}

// Calibrate fits the correction of instances of layout x to what was measured at the
// first concurrency of the question, which so many instances shared: the closed form then
// gives the measured times for that load.
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
	at := map[unit.Seconds]*Instance{}
	for _, m := range q.Measured {
		if m.RTT <= 0 {
			continue
		}
		if at[m.RTT], err = q.buildAt(v, x, m.RTT); err != nil {
			return nil, err
		}
		if at[m.RTT].Stepper.Step(b).Wire == 0 {
			return nil, fmt.Errorf("--calibrate: %s stays inside a node, nothing crosses a network: write rtt=0ms", x.String())
		}
	}
	tpot := func(c *infer.Calibration, rtt unit.Seconds) (unit.Seconds, error) {
		if at[rtt] == nil {
			if at[rtt], err = q.buildAt(v, x, rtt); err != nil {
				return 0, err
			}
		}
		corrected := *at[rtt]
		corrected.Correct(c)
		s, err := corrected.steady(q, int64(n), int64(q.slots(x)))
		return s.TPOT, err
	}
	return infer.Calibrate(q.AtRTT(v, x), b, in.spec.Tokens(), q.Measured, tpot)
}

// AtRTT builds the instance of x again on networks with other round trips.
func (q *Question) AtRTT(v *Variant, x plan.Serving) infer.AtRTT {
	return func(rtt unit.Seconds) (infer.Stepper, error) {
		in, err := q.buildAt(v, x, rtt)
		if err != nil {
			return nil, err
		}
		return in.Stepper, nil
	}
}

func (q *Question) buildAt(v *Variant, x plan.Serving, rtt unit.Seconds) (*Instance, error) {
	w := *v
	w.RTT = &rtt
	return q.Build(&w, x)
}
