package balance

import (
	"cmp"
	"slices"
)

// pack puts items of the given weights into packs of at most room items each:
// the heaviest first, always into the lightest pack with room (EPLB's
// balanced_packing). It returns the items of each pack, in the order they came.
func pack(weights []float64, packs, room int) [][]int {
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	items := make([][]int, packs)
	sums := make([]float64, packs)
	for _, i := range order {
		lightest := -1
		for p := range packs {
			if len(items[p]) < room && (lightest < 0 || sums[p] < sums[lightest]) {
				lightest = p
			}
		}
		items[lightest] = append(items[lightest], i)
		sums[lightest] += weights[i]
	}
	return items
}

// replicate gives each expert one copy and hands extra ones out, each to the
// expert whose copies carry most (EPLB's replicate_experts). It returns the
// expert of each copy, the first len(loads) in order, and the copies per expert.
func replicate(loads []float64, extra int) (expert, copies []int) {
	expert = make([]int, len(loads), len(loads)+extra)
	copies = make([]int, len(loads))
	for i := range loads {
		expert[i], copies[i] = i, 1
	}
	for range extra {
		heaviest := 0
		for i, w := range loads {
			if w/float64(copies[i]) > loads[heaviest]/float64(copies[heaviest]) {
				heaviest = i
			}
		}
		expert = append(expert, heaviest)
		copies[heaviest]++
	}
	return expert, copies
}

// onGPUs replicates the experts that stay on one node extra times and packs the
// copies onto its GPUs. members are the experts' numbers; counts receives copies.
func onGPUs(loads []float64, members []int, extra, gpus, room int, counts []int) [][]int {
	own := make([]float64, len(members))
	for i, e := range members {
		own[i] = loads[e]
	}
	expert, copies := replicate(own, extra)
	weights := make([]float64, len(expert))
	for slot, i := range expert {
		weights[slot] = own[i] / float64(copies[i])
	}
	for i, e := range members {
		counts[e] = copies[i]
	}
	packed := pack(weights, gpus, room)
	for _, slots := range packed {
		for j, slot := range slots {
			slots[j] = members[expert[slot]]
		}
	}
	return packed
}

// nodesOf spreads the groups of experts over nodes and returns the experts of
// each node; in a global placement there is one node with all of them.
func (l Layout) nodesOf(loads []float64) [][]int {
	if !l.Hierarchical() {
		all := make([]int, l.Experts)
		for i := range all {
			all[i] = i
		}
		return [][]int{all}
	}
	size := l.Experts / l.Groups
	sums := make([]float64, l.Groups)
	for i, w := range loads {
		sums[i/size] += w
	}
	nodes := pack(sums, l.Nodes, l.Groups/l.Nodes)
	for n, groups := range nodes {
		var members []int
		for _, g := range groups {
			for i := range size {
				members = append(members, g*size+i)
			}
		}
		nodes[n] = members
	}
	return nodes
}
