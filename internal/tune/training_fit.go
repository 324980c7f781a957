package tune

import (
	"context"
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/hw"
)

// trainingFit searches figures with which steps come out as measured.
type trainingFit struct {
	ctx  context.Context // of the call that fits; ends it early
	base *hw.Cluster
}

// machine is the run's cluster with other figures.
func (f *trainingFit) machine(t *trained, figures []*trainingFigure, at []float64) *hw.Cluster {
	c := f.base.Clone()
	c.GPUs = t.run.Request.Cluster.GPUs
	for k, x := range figures {
		x.set(c, hw.Figure{Value: at[k], Grade: hw.Measured, Source: "fit"})
	}
	return c
}

// rebase prices the run with the figures of the fit's machine.
func (f *trainingFit) rebase(t *trained) (err error) {
	t.evaluator, err = t.evaluator.On(f.machine(t, nil, nil))
	return err
}

// step is a run's predicted step with other figures, s.
func (f *trainingFit) step(t *trained, figures []*trainingFigure, at []float64) (float64, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, fmt.Errorf("interrupted while fitting: %w", err)
	}
	e := t.evaluator
	if len(figures) > 0 {
		var err error
		if e, err = e.On(f.machine(t, figures, at)); err != nil {
			return 0, err
		}
	}
	r, err := e.Evaluate(&t.best.Plan)
	if err != nil {
		return 0, err
	}
	return float64(r.Step), nil
}

// fit searches the values of figures.
func (f *trainingFit) fit(list []*trained, figures []*trainingFigure) (*choice, error) {
	at, err := f.search(list, figures)
	if err != nil {
		return nil, err
	}
	sum, err := f.miss(list, figures, at)
	return &choice{figures, at, max(sum/float64(max(len(list)-len(figures), 1)), repeats*repeats)}, err
}

// search minimises the sum of ln(predicted/measured)^2, one figure after the other.
func (f *trainingFit) search(list []*trained, figures []*trainingFigure) ([]float64, error) {
	at := make([]float64, len(figures))
	for k, x := range figures {
		low, high := x.bounds(f.base, list[0].evaluator)
		at[k] = min(max(x.now(f.base, list[0].evaluator), low), high)
	}
	for round := 0; round < rounds; round++ {
		most := 0.0
		for k, x := range figures {
			old := at[k]
			low, high := x.bounds(f.base, list[0].evaluator)
			v, err := golden(math.Log(low), math.Log(high), func(v float64) (float64, error) {
				at[k] = math.Exp(v)
				return f.miss(list, figures, at)
			})
			if err != nil {
				return nil, err
			}
			at[k] = math.Exp(v)
			most = max(most, math.Abs(math.Log(at[k]/old)))
		}
		if most < 5*narrowest || len(figures) < 2 {
			break
		}
	}
	return at, nil
}

func (f *trainingFit) miss(list []*trained, figures []*trainingFigure, at []float64) (sum float64, err error) {
	for _, t := range list {
		step, err := f.step(t, figures, at)
		if err != nil {
			return 0, err
		}
		d := math.Log(step / t.measured)
		sum += d * d
	}
	return sum, nil
}

// golden is where a function of one valley is least, by golden sections.
func golden(low, high float64, of func(float64) (float64, error)) (float64, error) {
	const section = 0.6180339887498949
	a, b := high-section*(high-low), low+section*(high-low)
	fa, err := of(a)
	if err != nil {
		return 0, err
	}
	fb, err := of(b)
	for err == nil && high-low > narrowest {
		if fa <= fb {
			high, b, fb = b, a, fa
			a = high - section*(high-low)
			fa, err = of(a)
		} else {
			low, a, fa = a, b, fb
			b = low + section*(high-low)
			fb, err = of(b)
		}
	}
	return (low + high) / 2, err
}
