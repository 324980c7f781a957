package train

import (
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Terms are what a whole run is priced with. Zero values mean not given.
type Terms struct {
	Tokens       float64      // of the whole run
	Price        float64      // USD per GPU-hour
	PowerPerGPU  float64      // watts; the device's TDP where the cluster does not say more
	GPUMTBF      unit.Seconds // mean time between failures of one GPU, its share of node and fabric included
	Checkpoint   unit.Seconds // time a checkpoint stops training
	Interval     unit.Seconds // between checkpoints; 0 = the best interval
	Restart      unit.Seconds // from a failure to training again
	StepOverride unit.Seconds // a measured step time, in place of the estimate
}

// Budget is a whole run.
type Budget struct {
	Steps            float64
	GPUHours         float64 // without failures
	HoursPerTrillion float64 // GPU-hours per 10^12 tokens
	Days             float64
	Cost             float64 // USD, 0 without a price
	EnergyMWh        float64 // 0 without a power figure
	DaysFailing      float64 // with failures and checkpoints, 0 without an MTBF
	Useful           float64 // share of the time that makes progress, with failures
	Interval         unit.Seconds
}

// Budget prices a run of t.Tokens at the result's step time.
func (r *Result) Budget(t Terms) (Budget, error) {
	step := r.Step
	if t.StepOverride > 0 {
		step = t.StepOverride
	}
	gpus := float64(r.Plan.GPUs())
	perToken := float64(step) * gpus / r.Tokens / 3600
	b := Budget{Steps: t.Tokens / r.Tokens, GPUHours: perToken * t.Tokens, HoursPerTrillion: perToken * 1e12}
	b.Days = b.GPUHours / gpus / 24
	b.Cost = b.GPUHours * t.Price
	b.EnergyMWh = b.GPUHours * t.PowerPerGPU / 1e6
	if t.GPUMTBF <= 0 {
		return b, nil
	}
	if err := b.fail(t, gpus); err != nil {
		return b, err
	}
	return b, nil
}

// fail stretches the run by checkpoints and failures, to first order (J. W.
// Young, CACM 17(9), 1974; J. T. Daly, FGCS 22(3), 2006): a checkpoint of C
// seconds every T costs C/T; each failure costs the restart and on average half
// an interval; the whole machine fails GPUs times as often as one GPU. Young's
// interval is sqrt(2 C M).
func (b *Budget) fail(t Terms, gpus float64) error {
	mtbf := float64(t.GPUMTBF) / gpus
	b.Interval = t.Interval
	if b.Interval == 0 {
		b.Interval = unit.Seconds(math.Sqrt(2 * float64(t.Checkpoint) * mtbf))
	}
	if b.Interval <= 0 {
		return fmt.Errorf("failures need a checkpoint time or interval: give --checkpoint-time or --checkpoint-interval")
	}
	lost := float64(t.Checkpoint)/float64(b.Interval) + (float64(t.Restart)+float64(b.Interval)/2)/mtbf
	if lost >= 1 {
		return fmt.Errorf("a failure every %.0f s leaves no time to train with checkpoints every %.0f s and a restart of %.0f s: shorten both",
			mtbf, float64(b.Interval), float64(t.Restart))
	}
	b.Useful = 1 - lost
	b.DaysFailing = b.Days / b.Useful
	return nil
}
