package balance

import (
	"cmp"
	"math"
	"slices"
)

// share is one GPU's part of the load, and how many GPUs carry the same.
type share struct {
	of   float64 // of the whole, 0 to 1
	gpus float64
}

// shares sorts the GPUs' parts of a placement, equal ones together; nil without load.
func shares(loads []float64) []share {
	sorted := slices.Clone(loads)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(b, a) })
	sum := 0.0
	for _, w := range sorted {
		sum += w
	}
	if sum == 0 {
		return nil
	}
	var out []share
	for _, w := range sorted {
		if n := len(out); n > 0 && out[n-1].of-w/sum <= 1e-12 {
			out[n-1].gpus++
			continue
		}
		out = append(out, share{of: w / sum, gpus: 1})
	}
	return out
}

// fullest is the expected number of assignments that the fullest GPU gets, when
// each of n assignments falls on a GPU by its share: chance alone makes GPUs
// uneven, the more the fewer assignments there are.
//
//	E[max] = sum over m >= 0 of 1 - prod_g P(load_g <= m)
//
// with loads taken as independent: Poisson while few, normal with the binomial's
// variance beyond. One GPU always gets everything.
func fullest(parts []share, n float64) float64 {
	top := parts[0].of * n
	if len(parts) == 1 && parts[0].gpus == 1 || parts[0].of > 1-1e-12 {
		return n
	}
	if top > fewAssignments {
		return normalMax(parts, n)
	}
	return min(poissonMax(parts, n), n)
}

// fewAssignments is where the normal law takes over; at the seam the two differ
// by less than 1 % (tested).
const fewAssignments = 200

// reach is how many standard deviations beyond its mean a GPU's load is followed.
const reach = 8

// poissonMax sums over whole loads. below[i] is P(load <= m) of part i.
func poissonMax(parts []share, n float64) float64 {
	term, below := make([]float64, len(parts)), make([]float64, len(parts))
	top := parts[0].of * n
	last := int(top + reach*math.Sqrt(top) + reach)
	sum := 0.0
	for m := 0; m <= last; m++ {
		all := 1.0
		for i, p := range parts {
			if m == 0 {
				term[i] = math.Exp(-p.of * n)
			} else {
				term[i] *= p.of * n / float64(m)
			}
			below[i] = min(below[i]+term[i], 1)
			all *= math.Pow(below[i], p.gpus)
		}
		sum += 1 - all
	}
	return sum
}

// steps of the numerical integral over the fullest GPU's load; halving them
// changes no result by 1e-4.
const steps = 96

// normalMax integrates 1 - prod P(load <= x) from where a GPU surely lies above.
func normalMax(parts []share, n float64) float64 {
	sigma := func(p share) float64 { return math.Sqrt(n * p.of * (1 - p.of)) }
	top := parts[0]
	low, high := n*top.of-reach*sigma(top), n*top.of+reach*sigma(top)
	width := (high - low) / steps
	sum := low
	for i := range steps {
		x := low + (float64(i)+0.5)*width
		all := 1.0
		for _, p := range parts {
			z := (x - n*p.of) / sigma(p)
			if z > reach {
				break // this part and all lighter ones lie below
			}
			all *= math.Pow(0.5*math.Erfc(-z/math.Sqrt2), p.gpus)
		}
		sum += (1 - all) * width
	}
	return sum
}
