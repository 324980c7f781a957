package advise

import (
	"context"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Knob is a hardware figure that a what-if turns.
type Knob uint8

// The knobs: both figures of a resource (peak and achieved) scale together.
const (
	Network Knob = iota
	ScaleUp
	Links // both of them
	HBM
	Matrix
	NumKnobs
)

var knobNames = [NumKnobs + 1]string{"network", "scale-up link", "both links", "memory bandwidth", "matrix rate", "global batch"}

// String is the knob's name in reports.
func (k Knob) String() string { return knobNames[k] }

// Turn is c with one figure scaled.
func Turn(c *hw.Cluster, k Knob, by float64) *hw.Cluster {
	d := c.Clone()
	scale := func(figs ...*hw.Figure) {
		for _, f := range figs {
			f.Value *= by
		}
	}
	dev := d.Device
	if k == Network || k == Links {
		scale(&d.Node.NIC, &dev.Achieved.NIC, &dev.DefaultNode.NIC)
	}
	if k == ScaleUp || k == Links {
		scale(&dev.Peak.ScaleUp, &dev.Achieved.ScaleUp, &dev.Achieved.ScaleUpReduce)
	}
	switch k {
	case HBM:
		scale(&dev.Peak.HBM, &dev.Achieved.HBM)
	case Matrix:
		for f := range unit.NumFormats {
			scale(&dev.Peak.Matrix[f], &dev.Achieved.Matrix[f])
		}
		scale(&dev.Achieved.AttentionFwd, &dev.Achieved.AttentionBwd)
	}
	return d
}

// value is the knob's achieved figure on the evaluator's machine, for products in format f.
func (k Knob) value(e *train.Evaluator, f unit.Format) float64 {
	m := e.Machine()
	switch k {
	case Network:
		return float64(m.NetworkRate())
	case ScaleUp:
		return float64(m.ScaleUpRate())
	case HBM:
		return float64(m.HBMRate())
	case Links:
		return 1
	}
	return float64(m.MatrixRate(f))
}

// BreakEven is the value of a figure at which a plan's verdict flips.
type BreakEven struct {
	What  string
	Now   float64 // SI
	Flip  float64 // SI; 0 where no value within a factor of 1,000 flips it
	Unit  string
	Bound train.Bound // before
	Next  train.Bound // after
	Note  string
}

// flipLimit is how far a knob is turned in search of a flip.
const flipLimit = 1000

// Flip finds, by bisection on the same model, how far a knob must be turned for
// plan p to be bound by something else: towards faster where the knob's own
// resource binds, towards slower otherwise.
func (q *Question) Flip(p *plan.Plan, k Knob) (BreakEven, error) {
	e, err := q.Evaluator()
	if err != nil {
		return BreakEven{}, err
	}
	at := func(by float64) (train.Bound, error) {
		turned, err := e.On(Turn(q.Cluster, k, by))
		if err != nil {
			return "", err
		}
		r, err := turned.Evaluate(p)
		if err != nil {
			return "", err
		}
		return r.Bound, nil
	}
	now, err := at(1)
	if err != nil {
		return BreakEven{}, err
	}
	b := BreakEven{What: k.String(), Now: k.value(e, p.Precision.GEMM), Unit: "B/s", Bound: now}
	switch k {
	case Matrix:
		b.Unit = "FLOP/s"
	case Links:
		b.Unit = "times today's"
	}
	by, next, err := bisect(at, now, k.binds(now))
	if err != nil || by == 0 {
		return b, err
	}
	b.Flip, b.Next = b.Now*by, next
	return b, nil
}

// Flips asks every knob that the cluster has.
func (q *Question) Flips(p *plan.Plan) ([]BreakEven, error) {
	var list []BreakEven
	for k := range NumKnobs {
		one, alone := q.Cluster.Nodes() == 1, q.Cluster.Node.GPUs == 1
		if k == Network && one || k == ScaleUp && alone || k == Links && (one || alone) {
			continue
		}
		b, err := q.Flip(p, k)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

// binds tells whether bound b is the knob's own resource.
func (k Knob) binds(b train.Bound) bool {
	if k == Links {
		return b == train.BoundNetwork || b == train.BoundNVLink
	}
	return b == [NumKnobs]train.Bound{train.BoundNetwork, train.BoundNVLink, "", train.BoundHBM, train.BoundCompute}[k]
}

// bisect finds the factor nearest to 1 at which the bound is no longer now.
func bisect(at func(float64) (train.Bound, error), now train.Bound, faster bool) (float64, train.Bound, error) {
	near, far := 1.0, 1.0
	next := now
	var err error
	for next == now && far < flipLimit && far > 1.0/flipLimit {
		near = far
		if faster {
			far *= 2
		} else {
			far /= 2
		}
		if next, err = at(far); err != nil {
			return 0, now, err
		}
	}
	if next == now {
		return 0, now, nil
	}
	for range 20 {
		mid := (near + far) / 2
		b, err := at(mid)
		if err != nil {
			return 0, now, err
		}
		if b == now {
			near = mid
		} else {
			far, next = mid, b
		}
	}
	return far, next, nil
}

// FlipTokens is the tokens per GPU between two gathers of the weights, that is per
// micro-batch, at which a ZeRO-3 plan becomes compute-bound, whatever memory
// says: with one micro-batch per step, the tokens per GPU and step.
func (q *Question) FlipTokens(ctx context.Context, p *plan.Plan) (BreakEven, error) {
	at := func(sequences int) (*train.Result, error) {
		j := *q.Job
		j.GlobalBatch, j.Idle = sequences*p.DP, 0
		one := q.with(func(q *Question) { q.Job = &j })
		e, err := one.Evaluator()
		if err != nil {
			return nil, err
		}
		r := *p
		r.MicroBatch = sequences
		return e.Evaluate(&r)
	}
	now, err := at(1)
	if err != nil {
		return BreakEven{}, err
	}
	perGPU := float64(q.Job.Seq) / float64(p.TP*p.CP*p.PP)
	b := BreakEven{What: "tokens per GPU and gather", Unit: "tokens", Bound: now.Bound, Now: float64(p.MicroBatch) * perGPU}
	low, high := 1, 1
	for r := now; r.Bound != train.BoundCompute; {
		if low, high = high, 2*high; high > 1<<16 {
			return b, nil
		}
		if r, err = at(high); err != nil {
			return b, err
		}
	}
	for high-low > 1 && ctx.Err() == nil {
		mid := (low + high) / 2
		r, err := at(mid)
		if err != nil {
			return b, err
		}
		if r.Bound == train.BoundCompute {
			high = mid
		} else {
			low = mid
		}
	}
	r, err := at(high)
	if err != nil {
		return b, err
	}
	b.Flip, b.Next = float64(high)*perGPU, train.BoundCompute
	b.Note = fmt.Sprintf("that is %d sequences in a micro-batch, %s of activations", high, gb(r.Memory[mem.Activations]))
	return b, nil
}
