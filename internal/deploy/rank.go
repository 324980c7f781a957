package deploy

// alike is the relative difference in output per GPU below which the simpler
// layout is preferred: models of engines are not exact to a tenth of a per cent.
const alike = 0.001

// better tells whether a is a better answer than b under s: what meets it before
// what does not, then what fits; of points that meet, more output per GPU, which
// is the lower cost per token; of others, the smaller miss. Without an objective a load
// before the queue goes before one past it.
func better(a, b *Point, s SLO) bool {
	switch am, bm := s.Meets(a), s.Meets(b); {
	case am != bm:
		return am
	case am && !s.Any() && a.Queued != b.Queued && a.Concurrency != b.Concurrency:
		return b.Queued // nobody says how long a request may wait: of the loads the last before the queue
	case am && a.Queued != b.Queued && min(a.PerGPU(), b.PerGPU()) >= (1-finest)*max(a.PerGPU(), b.PerGPU()):
		return b.Queued // a queue only makes requests wait: what it adds to the output is the load's rounding
	case am:
		return cheaper(a, b)
	case a.Fits != b.Fits:
		return a.Fits
	case !a.Fits:
		return a.Lacks() < b.Lacks()
	}
	return s.Misses(a) < s.Misses(b)
}

func cheaper(a, b *Point) bool {
	x, y := a.PerGPU(), b.PerGPU()
	switch {
	case x > y*(1+alike):
		return true
	case y > x*(1+alike):
		return false
	}
	return a.simplicity() < b.simplicity()
}

// pick is the best of points under s; nil of none.
func pick(points []*Point, s SLO) *Point {
	var best *Point
	for _, p := range points {
		if best == nil || better(p, best, s) {
			best = p
		}
	}
	return best
}

// Cheapest is the outcome with the best answer under s: of those that meet it the
// one with the lowest cost per token where every machine has a price, else with
// the most output per GPU.
func Cheapest(list []*Outcome, s SLO) *Outcome {
	priced := true
	for _, o := range list {
		_, ok := o.Best.Cost()
		priced = priced && (ok || !s.Meets(o.Best))
	}
	var best *Outcome
	for _, o := range list {
		switch {
		case best == nil, s.Meets(o.Best) != s.Meets(best.Best):
			if best == nil || s.Meets(o.Best) {
				best = o
			}
		case priced && s.Meets(o.Best):
			a, _ := o.Best.Cost()
			if b, _ := best.Best.Cost(); a < b {
				best = o
			}
		case better(o.Best, best.Best, s):
			best = o
		}
	}
	return best
}
