package deploy

import (
	"cmp"
	"slices"
)

// Front is the Pareto front of points: those than which none other gives its
// user more tokens per second and also its GPU, from the fastest for the user
// to the most output per GPU. Points that do not fit are left out; of equals
// the first stays.
func Front(points []*Point) []*Point {
	list := slices.DeleteFunc(slices.Clone(points), func(p *Point) bool { return !p.Fits })
	slices.SortStableFunc(list, func(a, b *Point) int {
		return cmp.Or(cmp.Compare(b.PerUser(), a.PerUser()), cmp.Compare(b.PerGPU(), a.PerGPU()))
	})
	var front []*Point
	best := 0.0
	for _, p := range list {
		if p.PerGPU() > best {
			front, best = append(front, p), p.PerGPU()
		}
	}
	return front
}
