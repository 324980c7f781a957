package tune

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

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

// choice is figures fitted to runs.
type choice struct {
	figures []*trainingFigure
	at      []float64
	spread  float64 // sum of ln(predicted/measured)^2 by run that is left to judge the fit by
}

// choose fits the figures that the runs tell. Every set of figures is fitted for which there
// are runs, one more than there are figures where there are several; in a set each figure has
// to move a step there, and to move the steps unlike the others. The figure that
// moves one run most, or fits several best, is kept; more of them where the spread falls to less
// than half. refused says why the others stay as they are.
func (f *trainingFit) choose(list []*trained) (best *choice, refused []string, err error) {
	why := map[*trainingFigure]string{}
	start, err := f.movesAll(list, trainingFigures, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	used := map[*trainingFigure]bool{}
	most := 0.0
	for k, x := range trainingFigures {
		used[x] = norm(start[k]) > 0
		most = max(most, norm(start[k]))
	}
	for set := 1; set < 1<<len(trainingFigures); set++ {
		var some []*trainingFigure
		for k, x := range trainingFigures {
			if set&(1<<k) != 0 && used[x] {
				some = append(some, x)
			}
		}
		if len(some) != bits.OnesCount(uint(set)) || len(some) > 1 && len(list) <= len(some) {
			continue
		}
		if len(list) == 1 && norm(start[slices.Index(trainingFigures, some[0])]) < most*(1-1e-9) {
			continue // one run: of the figures that could all make up for it the one that matters most
		}
		c, err := f.fit(list, some)
		if err != nil {
			return nil, nil, err
		}
		v, err := f.movesAll(list, some, some, c.at)
		if err != nil {
			return nil, nil, err
		}
		if x, reason := apart(some, v); x != nil {
			why[x] = reason
			continue
		}
		// Sets come in the order of their bits, so a set follows all its parts.
		switch {
		case best == nil, len(c.figures) <= len(best.figures) && c.spread < best.spread, len(c.figures) > len(best.figures) && c.spread < best.spread/2:
			best = c
		}
	}
	for _, x := range trainingFigures {
		switch {
		case best == nil || slices.Contains(best.figures, x) || !used[x]:
		case len(list) < len(best.figures)+2:
			refused = append(refused, fmt.Sprintf("%s stays: to tell it from %s takes %d runs of different layouts, %d given", x.key, best.figures[0].key, len(best.figures)+2, len(list)))
		case why[x] != "":
			refused = append(refused, x.key+" stays: "+why[x])
		default:
			refused = append(refused, x.key+" stays: fitting it besides brings the steps no nearer")
		}
	}
	return best, refused, nil
}

// fewRuns are so few that leaving one out may change which figures they tell; of more only
// the values are fitted again.
const fewRuns = 5

// again fits to runs that are a part of those that chose c.
func (f *trainingFit) again(part []*trained, c *choice) (*choice, error) {
	if len(part) >= fewRuns {
		return f.fit(part, c.figures)
	}
	d, _, err := f.choose(part)
	if d == nil { // they tell nothing: the machine as it was
		d = &choice{}
	}
	return d, err
}

// apart is the first figure of a set that its runs do not tell, and why; nil of none. v are
// the figures' moves.
func apart(figures []*trainingFigure, v [][]float64) (*trainingFigure, string) {
	for k, x := range figures {
		if top := slices.Max(v[k]); top < leastMoved {
			return x, fmt.Sprintf("ten per cent of it move no step by more than %.1f %%", 10*top)
		}
		var directions [][]float64
		for j := range figures {
			if rest := beside(v[j], directions); j != k && norm(rest) > 1e-9 {
				directions = append(directions, scaled(rest, 1/norm(rest)))
			}
		}
		if norm(beside(v[k], directions)) < leastApart*norm(v[k]) {
			return x, "it moves these steps as the others do; add runs of layouts that use the link more, or less"
		}
	}
	return nil, ""
}

// movesAll are -d ln(step)/d ln(figure) by figure and run, at least 0, with the machine's
// figures at other values.
func (f *trainingFit) movesAll(list []*trained, of, figures []*trainingFigure, at []float64) ([][]float64, error) {
	var all [][]float64
	for _, x := range of {
		v := make([]float64, len(list))
		for i, t := range list {
			now := x.now(f.base, t.evaluator)
			if k := slices.Index(figures, x); k >= 0 {
				now = at[k]
			}
			if now == 0 {
				continue
			}
			before, err := f.step(t, figures, at)
			if err != nil {
				return nil, err
			}
			after, err := f.step(t, append(slices.Clone(figures), x), append(slices.Clone(at), turned*now))
			if err != nil {
				return nil, err
			}
			v[i] = max(0, math.Log(after/before)/-math.Log(turned))
		}
		all = append(all, v)
	}
	return all, nil
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

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

func scaled(v []float64, by float64) []float64 {
	w := slices.Clone(v)
	for i := range w {
		w[i] *= by
	}
	return w
}

// beside is the part of v that no sum of the directions, unit vectors at right angles, makes.
func beside(v []float64, directions [][]float64) []float64 {
	w := slices.Clone(v)
	for _, d := range directions {
		dot := 0.0
		for i := range v {
			dot += v[i] * d[i]
		}
		for i := range w {
			w[i] -= dot * d[i]
		}
	}
	return w
}
