package balance

import (
	"fmt"
	"math"
)

// Layout is the experts of one layer and the GPUs that hold them. Each GPU has
// (Experts + Redundant) / GPUs slots, and a slot holds one expert's weights.
type Layout struct {
	Experts   int // routed experts, each placed at least once
	Redundant int // slots beyond one per expert
	GPUs      int // expert ranks, numbered node by node
	// Nodes and Groups switch on hierarchical placement: the groups of node-limited
	// routing go to nodes whole, so that a token's choices stay on few nodes. It needs
	// Groups to be a multiple of Nodes; otherwise, and with Nodes or Groups of 0 or
	// 1, placement is global (deepseek-ai/EPLB: eplb.py, rebalance_experts).
	Nodes, Groups int
}

// Bounds of a layout, and with them of a placement's time: the largest models
// known have some hundred experts, the largest deployments some hundred ranks.
const (
	maxExperts   = 1024
	maxRedundant = 512
)

// Check says in one line what is wrong with the layout and how to mend it.
func (l Layout) Check() error {
	switch slots := l.Experts + l.Redundant; {
	case l.Experts < 1 || l.Experts > maxExperts:
		return fmt.Errorf("%d experts to place: give 1 to %d", l.Experts, maxExperts)
	case l.GPUs < 1 || l.GPUs > maxExperts+maxRedundant:
		return fmt.Errorf("%d GPUs to place experts on: give 1 to %d", l.GPUs, maxExperts+maxRedundant)
	case l.Redundant < 0 || l.Redundant > maxRedundant:
		return fmt.Errorf("%d redundant experts: give 0 to %d", l.Redundant, maxRedundant)
	case l.Nodes < 0 || l.Groups < 0:
		return fmt.Errorf("%d nodes and %d expert groups: give 0 for none", l.Nodes, l.Groups)
	case slots%l.GPUs != 0:
		return fmt.Errorf("%d experts and %d redundant ones do not fill %d GPUs evenly: use %d redundant",
			l.Experts, l.Redundant, l.GPUs, l.Redundant+l.GPUs-slots%l.GPUs)
	case l.Nodes > 1 && l.GPUs%l.Nodes != 0:
		return fmt.Errorf("%d GPUs do not fill %d nodes evenly: use a multiple of %d", l.GPUs, l.Nodes, l.Nodes)
	case l.Groups > 1 && l.Experts%l.Groups != 0:
		return fmt.Errorf("%d experts do not form %d equal groups: use a divisor of %d", l.Experts, l.Groups, l.Experts)
	}
	return nil
}

// PerGPU is the slots of one GPU.
func (l Layout) PerGPU() int { return (l.Experts + l.Redundant) / l.GPUs }

// Hierarchical tells whether groups of experts go to nodes whole.
func (l Layout) Hierarchical() bool {
	return l.Nodes > 1 && l.Groups > 1 && l.Groups%l.Nodes == 0
}

// checkLoads demands one finite load of at least 0 per expert.
func (l Layout) checkLoads(loads []float64) error {
	if len(loads) != l.Experts {
		return fmt.Errorf("%d loads for %d experts: give one per expert", len(loads), l.Experts)
	}
	for i, w := range loads {
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("load %g of expert %d: give a finite number of at least 0", w, i)
		}
	}
	return nil
}
