package deploy

import (
	"cmp"
	"math"
	"slices"
)

// Front is the Pareto front of points: those than which none other gives its
// user more tokens per second and also its GPU, from the fastest for the user to
// the most output per GPU. Points that do not fit are left out. Of points alike,
// within a tenth of a per cent, the simplest stays.
func Front(points []*Point) []*Point {
	list := slices.DeleteFunc(slices.Clone(points), func(p *Point) bool { return !p.Fits })
	slices.SortStableFunc(list, func(a, b *Point) int {
		return cmp.Or(cmp.Compare(grid(b.PerUser()), grid(a.PerUser())), cmp.Compare(grid(b.PerGPU()), grid(a.PerGPU())),
			cmp.Compare(a.simplicity(), b.simplicity()))
	})
	var front []*Point
	best := math.Inf(-1)
	for _, p := range list {
		if g := grid(p.PerGPU()); g > best {
			front, best = append(front, p), g
		}
	}
	return front
}

// served is points without those that only wait longer than another: of a deployment
// whose requests queue, the point with the fewest in flight gives as much, and what more
// requests change of a time per token nobody gets before their waiting.
func served(points []*Point) []*Point {
	first := map[string]int{} // of a deployment, in flight
	for _, p := range points {
		if n, ok := first[p.String()]; p.Queued && (!ok || p.Concurrency < n) {
			first[p.String()] = p.Concurrency
		}
	}
	return slices.DeleteFunc(slices.Clone(points), func(p *Point) bool { return p.Queued && p.Concurrency > first[p.String()] })
}

// grid is v in steps of alike.
func grid(v float64) float64 { return math.Floor(math.Log(v) / math.Log1p(alike)) }
