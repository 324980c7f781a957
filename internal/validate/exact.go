package validate

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/cost"
)

// leastRows is how many runs a device needs for a share of its own.
const leastRows = 5

// longSeq is where attention is most of a run's work, in tokens.
const longSeq = 16384

// probe is two values of a constant between which a run's step is almost linear.
type probe struct{ low, high float64 }

// exactBy solves for the constant with which a run is predicted exactly by a predictor
// like by, its step being linear between the probes.
func exactBy(by *Predictor, r *Run, at probe, set func(*cost.Options, float64)) (value float64, p *Prediction, err error) {
	var steps [2]float64
	for i, v := range [2]float64{at.low, at.high} {
		o := by.Options
		set(&o, v)
		pr := Predictor{Configs: by.Configs, Options: o}
		if p, err = pr.Predict(r); err != nil {
			return 0, nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		steps[i] = float64(p.Result.Step)
	}
	want := p.Result.Tokens / float64(r.GPUs) / r.TokensPerSecondPerGPU
	return at.low + (at.high-at.low)*(want-steps[0])/(steps[1]-steps[0]), p, nil
}
