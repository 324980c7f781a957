package tune

import (
	"cmp"
	"math"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// slowest is the rate from which searches start, FLOP/s: an emulated processor's.
const slowest = 1e7

// group is the points of one format and number of rows.
type group struct {
	format unit.Format
	rows   int64
	points []*point
}

// groups are those of prompts, or of generated tokens, by format and rows.
func groups(points []point, prompts bool) []group {
	var list []group
	for i := range points {
		p := &points[i]
		if (p.batch.Prefill > 0) != prompts {
			continue
		}
		at := slices.IndexFunc(list, func(g group) bool { return g.format == p.format && g.rows == p.rows })
		if at < 0 {
			at, list = len(list), append(list, group{format: p.format, rows: p.rows})
		}
		list[at].points = append(list[at].points, p)
	}
	slices.SortFunc(list, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.format, b.format), cmp.Compare(a.rows, b.rows))
	})
	return list
}

// search sets the fitted machine and gives its rates.
func (f *vectorFit) search(points []point) (rates, error) {
	decodes, err := f.best(groups(points, false), nil, func(core float64) rates { return rates{decode: core} })
	if err != nil {
		return rates{}, err
	}
	prompts, err := f.best(groups(points, true), decodes.rows, func(core float64) rates { return rates{prompt: core} })
	if err != nil {
		return rates{}, err
	}
	all := rates{rows: append(decodes.rows, prompts.rows...), prompt: prompts.prompt, decode: decodes.decode}
	f.set(all)
	return all, nil
}

// best is the rates with the least spread; with is those of a core's rate alone. Groups
// come by rising rows and build on the rates of fewer rows, known ones and those before:
// an expert has fewer rows than the step.
func (f *vectorFit) best(list []group, known []hw.RowRate, with func(core float64) rates) (rates, error) {
	var kept rates
	if len(list) == 0 {
		return kept, nil
	}
	top := f.known.Achieved.Matrix[unit.FP32].Value
	if top == 0 {
		top = f.known.MatrixRate(unit.FP16).Value
	}
	least := math.Inf(1)
	for share := 1.0; share > 0.01; share /= 1.1 {
		loss := 0.0
		now := with(top * share)
		for i := range list {
			core := with(top * share)
			core.rows = slices.Concat(known, now.rows)
			rate, spread, err := f.rate(&list[i], core)
			if err != nil {
				return kept, err
			}
			loss += spread
			now.rows = append(now.rows, rate)
		}
		if loss < least-1e-6 {
			least, kept = loss, now
		}
	}
	return kept, nil
}

// rate is the one at which a group's products run beside the rates of core, by bisection,
// and the sum of squared logarithms of predicted over measured that it leaves.
func (f *vectorFit) rate(g *group, core rates) (hw.RowRate, float64, error) {
	core.rows = append(slices.Clone(core.rows), hw.RowRate{Format: g.format, Rows: g.rows})
	own := &core.rows[len(core.rows)-1]
	low, high := math.Log(slowest), math.Log(f.ceiling(g))
	for range 30 {
		mid := (low + high) / 2
		own.Rate = math.Exp(mid)
		mean, _, err := f.bias(g, core)
		switch {
		case err != nil:
			return hw.RowRate{}, 0, err
		case mean > 0: // too slow
			low = mid
		default:
			high = mid
		}
	}
	_, spread, err := f.bias(g, core)
	return *own, spread, err
}

// ceiling bounds a group's rate: at it products take a hundredth of the group's fastest
// step, so that they hide behind reading the weights, as those of one row may.
func (f *vectorFit) ceiling(g *group) float64 {
	most := 0.0
	for _, p := range g.points {
		most = max(most, 2*float64(p.model.ActiveParams())*float64(max(p.rows, p.batch.Prefill))/p.seconds)
	}
	return 100 * most
}

// bias is the mean of ln(predicted/measured) over a group, and the sum of its squares.
func (f *vectorFit) bias(g *group, r rates) (mean, squares float64, err error) {
	f.set(r)
	for _, p := range g.points {
		v, err := f.predict(p)
		if err != nil {
			return 0, 0, err
		}
		x := math.Log(v / p.seconds)
		mean += x / float64(len(g.points))
		squares += x * x
	}
	return mean, squares, nil
}
