package advise

import (
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
)

// ByPrecision is one plan under another precision policy.
type ByPrecision struct {
	Precision string
	Result    *train.Result
	// Flip is the network or scale-up time over compute time: above 1 the plan is
	// communication-bound. A precision shortens compute more than communication.
	Ratio float64
}

// Compare evaluates plan p under every precision that the device multiplies in,
// the layout kept.
func (q *Question) Compare(p *plan.Plan) ([]ByPrecision, error) {
	var list []ByPrecision
	policies := []plan.Precision{q.Precision} // with its settings, if it has any
	for _, name := range plan.PrecisionNames() {
		if name != q.Precision.Name {
			policies = append(policies, plan.Precisions[name])
		}
	}
	for _, pr := range policies {
		asked := q.with(func(q *Question) { q.Precision = pr })
		e, err := asked.Evaluator()
		if err != nil {
			continue // the device does not multiply in this format
		}
		r := *p
		r.Precision = pr
		res, err := e.Evaluate(&r)
		if err != nil {
			return nil, err
		}
		c := &res.Ceilings
		list = append(list, ByPrecision{pr.Name, res, float64(max(c.Network, c.NVLink) / c.Compute)})
	}
	return list, nil
}
