package cost

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/work"
)

// dispatch adds the expert all-to-all with node-limited routing: a token goes
// once over the network to each distinct remote node, then over the scale-up
// link to each distinct GPU there.
func (m *Machine) dispatch(p placement, c *work.Comm, a *alternatives) {
	b := float64(c.Bytes)
	nodes, gpus := reach(p, c)
	// Of the distinct nodes one in `nodes` is the token's own, as is one GPU.
	remote := nodes * float64(p.nodes-1) / float64(p.nodes)
	local := gpus * float64(p.n-1) / float64(p.n)
	a.add(m.transfer(legs{
		name: "dispatch", scaleUp: b * local, network: b * remote,
		latency: m.exchangeLatency(p), uplink: !m.rails,
	}))
}

// reach is the expected number of distinct nodes and GPUs that hold a token's
// chosen experts, the token's own included, when choices fall uniformly.
func reach(p placement, c *work.Comm) (nodes, gpus float64) {
	k := float64(max(c.TopK, 1))
	inReach := 1.0
	if c.TopGroups > 0 && c.Groups > c.TopGroups {
		inReach = float64(c.TopGroups) / float64(c.Groups)
	}
	return distinct(float64(p.nodes)*inReach, k), distinct(float64(p.n)*inReach, k)
}

// distinct is the expected number of different boxes that k independent uniform
// choices among n boxes hit; a single box or less always counts one.
func distinct(n, k float64) float64 {
	if n <= 1 {
		return 1
	}
	return n * (1 - math.Pow(1-1/n, k))
}
