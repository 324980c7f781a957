package cost

import "github.com/ridgeline/ridgeline/internal/work"

// placement is where a group's members lie: n ranks on `nodes` nodes, at most
// `inNode` of them sharing one.
type placement struct {
	n, inNode, nodes int64
}

// place lays a group of Size ranks, Stride apart in rank order, on nodes of
// nodeGPUs. The group is taken to start at a node's first rank, or at an offset
// below Stride; then no node holds more than ceil(nodeGPUs/Stride) of it.
func (m *Machine) place(c *work.Comm) placement {
	n, stride := max(c.Size, 1), max(c.Stride, 1)
	inNode := min(n, max((m.nodeGPUs+stride-1)/stride, 1))
	return placement{n: n, inNode: inNode, nodes: (n + inNode - 1) / inNode}
}
