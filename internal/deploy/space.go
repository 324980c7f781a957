package deploy

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// Space is the instances that a search looks at, and those it refused before
// pricing anything.
type Space struct {
	Instances []plan.Serving // Replicas = 1, legal for the model
	Illegal   int
	Example   error // why the first illegal one is
}

// NewSpace lists the legal instances of at most gpus devices. Keys that fixed
// gives keep their value. The others are varied, except that ep and dcp stay 1
// where tp, pp or dp is given: a named layout then means what an engine started
// with these flags does. An illegal layout that leaves nothing open is an error.
//
// An instance fills a node evenly or takes whole nodes, tensor parallelism spans
// at most two nodes, and the experts lie whole on single ranks (ep = tp x dp) or
// are cut over all of them (ep = 1), as engines offer.
func NewSpace(m *model.Model, c *hw.Cluster, gpus int, fixed *plan.FixedServing) (*Space, error) {
	if fixed.Has(plan.KeyEP) && int64(fixed.Serving.EP) > c.GPUs {
		return nil, fmt.Errorf("plan key ep=%d needs as many GPUs in one instance and %s has %d: lower it or take a larger cluster", fixed.Serving.EP, c.Name, c.GPUs)
	}
	s := &Space{}
	node := int(c.Node.GPUs)
	redundant, copies := 0, 1
	if fixed != nil {
		redundant, copies = fixed.Serving.Redundant, fixed.Serving.Replicas
	}
	named := fixed.Has(plan.KeyTP) || fixed.Has(plan.KeyPP) || fixed.Has(plan.KeyDP)
	for _, tp := range degrees(fixed, plan.KeyTP, min(gpus, 2*node)) {
		for _, pp := range degrees(fixed, plan.KeyPP, min(gpus/tp, len(m.Layers))) {
			for _, dp := range degrees(fixed, plan.KeyDP, gpus/(tp*pp)) {
				n := tp * pp * dp
				if whole := n%node == 0 || node%n == 0; !whole && !named {
					continue
				}
				for _, ep := range experts(m, fixed, named, tp*dp) {
					for _, dcp := range contexts(fixed, named, tp) {
						s.add(m, c, copies, plan.Serving{TP: tp, PP: pp, DP: dp, EP: ep, DCP: dcp, Replicas: 1, Redundant: redundant})
					}
				}
			}
		}
	}
	if len(s.Instances) == 0 {
		return nil, s.nothing(m, c, fixed)
	}
	return s, nil
}

// add keeps an instance of which so many copies are legal.
func (s *Space) add(m *model.Model, c *hw.Cluster, copies int, x plan.Serving) {
	side := x
	side.Replicas = copies
	if err := side.Check(m, c.GPUs); err != nil {
		if s.Illegal++; s.Example == nil {
			s.Example = err
		}
		return
	}
	s.Instances = append(s.Instances, x)
}

// nothing words why the space is empty.
func (s *Space) nothing(m *model.Model, c *hw.Cluster, fixed *plan.FixedServing) error {
	if s.Example != nil && fixed != nil {
		return note.Of("plan", s.Example)
	}
	if s.Example != nil {
		return s.Example
	}
	x := plan.Serving{TP: 1, PP: 1, DP: 1, EP: 1, DCP: 1, Replicas: 1}
	if fixed != nil {
		x = fixed.Serving
	}
	if err := x.Check(m, c.GPUs); err != nil {
		return note.Of("plan", err)
	}
	return fmt.Errorf("no layout with the given plan keys uses the %d GPUs of %s: leave a key out", c.GPUs, c.Name)
}

// degrees are the values of a key: the given one, or powers of two up to most.
func degrees(fixed *plan.FixedServing, k plan.Key, most int) []int {
	if fixed.Has(k) {
		s := &fixed.Serving
		return []int{map[plan.Key]int{plan.KeyTP: s.TP, plan.KeyPP: s.PP, plan.KeyDP: s.DP}[k]}
	}
	list := []int{1}
	for n := 2; n <= most; n *= 2 {
		list = append(list, n)
	}
	return list
}

func experts(m *model.Model, fixed *plan.FixedServing, named bool, ranks int) []int {
	switch {
	case fixed.Has(plan.KeyEP):
		return []int{fixed.Serving.EP}
	case named || !m.MoE() || ranks == 1:
		return []int{1}
	}
	return []int{1, ranks}
}

// contexts are the degrees of decode context parallelism inside tp.
func contexts(fixed *plan.FixedServing, named bool, tp int) []int {
	switch {
	case fixed.Has(plan.KeyDCP):
		return []int{fixed.Serving.DCP}
	case named || tp == 1:
		return []int{1}
	}
	return []int{1, tp}
}

// replicas lists how many of x may run side by side on gpus devices when
// concurrency requests are shared out evenly: the given number, or every power
// of two that has work for each.
func replicas(fixed *plan.FixedServing, x *plan.Serving, gpus, concurrency int) []int {
	if fixed.Has(plan.KeyReplicas) {
		return []int{fixed.Serving.Replicas}
	}
	var list []int
	for n := 1; n*x.GPUs() <= gpus && concurrency%n == 0; n *= 2 {
		list = append(list, n)
	}
	return list
}

// checkWorkers refuses two roles whose smallest deployment the cluster cannot hold.
func checkWorkers(d *plan.Disaggregated, v *Variant) error {
	least := *d
	least.PrefillWorkers, least.DecodeWorkers = max(1, d.PrefillWorkers), max(1, d.DecodeWorkers)
	if n := least.Total(); int64(n) > v.Cluster.GPUs {
		return fmt.Errorf("plan %s needs %d GPUs and %s has %d: lower a degree or take a larger cluster", least.String(), n, v.Cluster.Name, v.Cluster.GPUs)
	}
	return nil
}
