package validate

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/cost"
)

// leastRows is how many runs a device needs for a share of its own.
const leastRows = 5

// longSeq is where attention is most of a run's work, in tokens.
const longSeq = 16384

// probe is two values of a constant between which a run's step is almost linear.
type probe struct{ low, high float64 }

// solved is the constant with which a run is exact, and the seconds that its step takes for each
// unit of it.
type solved struct{ value, slope float64 }

// solveBy solves for the constant with which a run is predicted exactly by a predictor
// like by, its step being linear between the probes. The prediction is that of the upper one.
func solveBy(by *Predictor, r *Run, at probe, set func(*cost.Options, float64)) (s solved, p *Prediction, err error) {
	var steps [2]float64
	for i, v := range [2]float64{at.low, at.high} {
		pr := *by
		set(&pr.Options, v)
		if p, err = pr.Predict(r); err != nil {
			return s, nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		steps[i] = float64(p.Result.Step)
	}
	want := p.Result.Tokens / float64(r.GPUs) / r.TokensPerSecondPerGPU
	s.slope = (steps[1] - steps[0]) / (at.high - at.low)
	s.value = at.low + (want-steps[0])/s.slope
	return s, p, nil
}

// inFits tells whether constants are fitted to the run where its kind says something of them.
// DeepSeek-V3 is in none, so that its published step stays a test.
func (r *Run) inFits() bool {
	return !strings.Contains(strings.ReplaceAll(strings.ToLower(r.Model), "-", ""), "deepseekv3")
}
