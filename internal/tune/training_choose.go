package tune

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

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
