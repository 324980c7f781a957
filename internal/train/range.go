package train

import "github.com/ridgeline/ridgeline/internal/unit"

// The tenths of measured over predicted step times over 401 published runs (package validate's
// test): of dense and of mixture-of-experts models that no fit saw, and of GPUs that none saw.
var (
	DenseRange         = [2]float64{0.91, 1.08}
	MoERange           = [2]float64{0.78, 1.36}
	DenseStrangerRange = [2]float64{0.93, 1.12}
	MoEStrangerRange   = [2]float64{0.74, 1.40}
)

// Range80 is the step times between which four in five measured ones should lie; never
// below the step's own floor.
func (r *Result) Range80() (low, high unit.Seconds) {
	of := DenseRange
	switch {
	case r.Experts && r.Stranger:
		of = MoEStrangerRange
	case r.Experts:
		of = MoERange
	case r.Stranger:
		of = DenseStrangerRange
	}
	low, high = unit.Seconds(of[0])*r.Step, unit.Seconds(of[1])*r.Step
	return max(low, r.Lower), high
}
