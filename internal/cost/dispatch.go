package cost

import (
	"github.com/ridgeline/ridgeline/internal/work"
)

// Shares of the links' rates that the expert exchange reaches.
const (
	// dispatchNIC on bytes for remote nodes. DeepEP's normal kernels on H800 report
	// 57.5, 50.5 and 43.5 GB/s at EP32, 64 and 128 (mean of dispatch and combine) and
	// count a token's own node as well: of its 3.6, 4 and 4 nodes 3/4, 7/8 and 15/16
	// are remote, which leaves 43, 44 and 41 of 50 GB/s (deepseek-ai/DeepEP:docs/legacy.md).
	dispatchNIC = 0.86
	// dispatchScaleUp on bytes for other GPUs of a node: 277 of 365 GB/s on eight H100
	// with 20 SMs, dispatch and combine alike, 4,096 tokens and more (table
	// h100/comm/sglang-0.5.12-wideep_deepep_normal); DeepEP's EP16 on H800, 43 GB/s
	// with the network half idle, makes 0.77 of 160 GB/s.
	dispatchScaleUp = 0.76
)

// dispatch adds the expert all-to-all with node-limited routing: a token goes
// once over the network to each distinct remote node, on its own rail, and is
// copied there over the scale-up link to each distinct GPU (arXiv:2412.19437
// section 3.2.2). The combine is the same way back.
//
//	network  = Bytes x distinct nodes x (N-1)/N
//	scale-up = Bytes x distinct GPUs x (g-1)/g
//
// Uneven experts send more tokens to some; the GPU and the node that get most set the time.
func (m *Machine) dispatch(p placement, c *work.Comm, a *alternatives) {
	b := float64(c.Bytes)
	g, nodes := float64(p.inNode), float64(p.nodes)
	if m.options.Engine != "" && (c.LowLatency || p.nodes == 1) {
		m.exchange(p, c, a)
		return
	}
	if m.options.CopyPerChoice {
		m.allToAll(p, b*choices(c)*unevenness(p, c), a)
		return
	}
	a.add(m.transfer(legs{
		name: "dispatch", latency: m.exchangeLatency(p), uplink: !m.rails,
		scaleUp:     b * fullestGPU(p, c) * (g - 1) / g,
		network:     b * fullestNode(p, c) * (nodes - 1) / nodes,
		scaleUpPart: dispatchScaleUp, nicPart: dispatchNIC, streamed: true,
	}))
}

// limited tells whether routing keeps a token inside some of the expert groups.
func limited(c *work.Comm) bool { return c.TopGroups > 0 && c.Groups > c.TopGroups }

// choices is the experts per token.
func choices(c *work.Comm) float64 { return float64(max(c.TopK, 1)) }

// distinctGPUs is the expected number of GPUs that hold a token's experts; the
// choices fall uniformly on the ranks of the groups it may use.
func distinctGPUs(p placement, c *work.Comm) float64 {
	ranks, experts := float64(p.n), float64(c.Experts)
	if limited(c) {
		part := float64(c.TopGroups) / float64(c.Groups)
		ranks, experts = max(ranks*part, 1), experts*part
	}
	return distinct(ranks, choices(c), experts)
}

// distinctNodes is the expected number of nodes among them. Groups lie on
// contiguous ranks; each group a token may use holds at least one of its experts,
// since groups are chosen for their best experts (arXiv:2412.19437 section 2.1.2).
func distinctNodes(p placement, c *work.Comm) float64 {
	nodes := float64(p.nodes)
	if p.nodes == 1 || !limited(c) {
		return distinct(nodes, choices(c), float64(c.Experts))
	}
	groups, used := float64(c.Groups), min(float64(c.TopGroups), choices(c))
	if groups > nodes { // several groups share a node
		return distinct(nodes, used, groups)
	}
	// a group spans nodes: its share of the choices spreads over them
	return used * distinct(nodes/groups, choices(c)/used, float64(c.Experts)/groups)
}

// distinct is the expected number of different boxes that k different balls of
// the given number come from, when they lie evenly in n boxes; balls <= 0 or
// fewer than the boxes means without end (independent choices). k may be a
// fraction: the last ball then counts in part.
//
//	n (1 - prod_{i<k} (1 - (balls/n) / (balls - i)))
func distinct(n, k, balls float64) float64 {
	if n <= 1 {
		return 1
	}
	missed := 1.0
	for i := 0.0; i < k && missed > 0; i++ {
		hit := 1 / n
		if balls >= n {
			hit = min(1, balls/n/(balls-i))
		}
		missed *= 1 - hit*min(1, k-i)
	}
	return n * (1 - missed)
}
