package deploy

import (
	"sync"

	"github.com/ridgeline/ridgeline/internal/balance"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// placements keeps imbalances: many layouts of a search place the same experts on
// as many GPUs.
var placements sync.Map // balance case without loads to *balance.Imbalance

type placement struct {
	balance.Layout
	topK  int
	skew  float64
	given *balance.Given
}

// loads is how unevenly the experts of layout x are used when their popularity
// falls by the variant's power law or is given; nil where it is even or experts are not on
// ranks of their own. Redundant copies are placed by the loads, as DeepSeek's
// balancer does; without any, experts lie in order.
func (q *Question) loads(v *Variant, x plan.Serving) (*balance.Imbalance, error) {
	f := q.Model.FirstMoE()
	if f == nil || !v.uneven() || x.EP == 1 {
		return nil, nil
	}
	k := placement{balance.Layout{Experts: int(f.Experts), Redundant: x.Redundant, GPUs: x.EP, Groups: int(f.Groups)}, int(f.TopK), v.Skew, v.Loads}
	if node := int(v.Cluster.Node.GPUs); x.EP%node == 0 {
		k.Nodes = x.EP / node
	}
	if m, ok := placements.Load(k); ok {
		return m.(*balance.Imbalance), nil
	}
	c := balance.Case{Layout: k.Layout, TopK: k.topK, Skew: k.skew, Balanced: x.Redundant > 0}
	if v.Loads != nil {
		c.Loads = v.Loads.Each
	}
	m, err := balance.New(c)
	if err != nil {
		return nil, err
	}
	placements.Store(k, m)
	return m, nil
}
