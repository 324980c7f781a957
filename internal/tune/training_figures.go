package tune

import (
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/train"
)

// trainingFigure is one figure of a machine that whole steps may tell.
type trainingFigure struct {
	key string // of the machine file
	// now is the figure that prices a run on c, whose evaluator is e; 0 = it prices nothing.
	now func(c *hw.Cluster, e *train.Evaluator) float64
	set func(c *hw.Cluster, f hw.Figure)
	// peak bounds it; 0 = not known.
	peak func(c *hw.Cluster) float64
}

// trainingFigures in the order in which equals are preferred.
var trainingFigures = []*trainingFigure{
	{
		key:  "sustained_share",
		now:  func(_ *hw.Cluster, e *train.Evaluator) float64 { return e.Machine().Sustained() },
		peak: func(*hw.Cluster) float64 { return 1 },
		set: func(c *hw.Cluster, f hw.Figure) {
			k := hw.Kernels{Arch: c.Device.Arch}
			if c.Device.Kernels != nil {
				k = *c.Device.Kernels
			}
			k.Sustained = hw.SustainedBy(c.Device.Name, f)
			c.Device.Kernels = &k
		},
	},
	{
		key:  "achieved.nic_gb_per_s",
		now:  func(_ *hw.Cluster, e *train.Evaluator) float64 { return float64(e.Machine().NetworkRate()) },
		peak: func(c *hw.Cluster) float64 { return c.Node.NIC.Value },
		set:  func(c *hw.Cluster, f hw.Figure) { c.Device.Achieved.NIC = f },
	},
	{
		key:  "achieved.scale_up_gb_per_s",
		now:  func(_ *hw.Cluster, e *train.Evaluator) float64 { return float64(e.Machine().ScaleUpRate()) },
		peak: func(c *hw.Cluster) float64 { return c.Device.Peak.ScaleUp.Value },
		set:  func(c *hw.Cluster, f hw.Figure) { c.Device.Achieved.ScaleUp = f },
	},
}

// The terms of the search.
const (
	leastFigure = 0.05 // of the peak: below it no link or kernel works as meant
	turned      = 0.9  // a figure is turned by it to see what it moves
	// leastMoved is how far the step has to follow a figure, as d ln(step)/d ln(figure), for
	// the figure to be read off it: below, an error of 2 % in the rest of the model moves
	// the figure by more than 13 %.
	leastMoved = 0.15
	// leastApart is the least sine between what one figure moves and what those kept already
	// can imitate: below, two runs that differ by noise alone would set both.
	leastApart = 0.3
	onBound    = 1e-3
	repeats    = 0.005 // of a step, by which runs of one job differ: no fit need be better
	narrowest  = 1e-4  // of ln(figure), where a search ends
	rounds     = 30    // over the figures in turn
)

// bounds are where a figure is searched.
func (x *trainingFigure) bounds(c *hw.Cluster, e *train.Evaluator) (low, high float64) {
	high = x.peak(c)
	if high == 0 {
		high = 2 * x.now(c, e)
	}
	return leastFigure * high, high
}
