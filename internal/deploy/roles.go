package deploy

import (
	"cmp"
	"context"
	"slices"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// role is how well an instance plays one role by itself.
type role struct {
	instance plan.Serving
	slow     float64 // seconds: of reading one prompt, or of an output token
	perGPU   float64 // requests/s or output tokens/s of one GPU
}

// roleBatches are the sequences per GPU at which decode workers are compared.
var roleBatches = []int{1, 4, 16, 64, 256}

// mostRoles is how many instances of each role are paired with each other.
const mostRoles = 6

// pairs lists deployments with two roles worth pricing: of each role the
// instances on its own front of speed against output per GPU. A worker off its
// front can be replaced by one on it that is as fast and uses no more GPUs for the
// same output, so no pair with it is better, but for what whole workers round.
func pairs(ctx context.Context, q *Question, v *Variant, instances []plan.Serving) ([]candidate, error) {
	if v.Cluster.GPUs < 2 || !v.Cluster.Node.NIC.Known() {
		return nil, nil
	}
	both := make([][2][]role, len(instances))
	err := each(ctx, len(instances), func(i int) error {
		if int64(instances[i].GPUs()) >= v.Cluster.GPUs {
			return nil // no room for the other role
		}
		var err error
		both[i], err = q.roles(v, instances[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	var prefill, decode []role
	for _, b := range both {
		prefill, decode = append(prefill, b[0]...), append(decode, b[1]...)
	}
	var list []candidate
	for _, p := range leading(prefill) {
		for _, d := range leading(decode) {
			if int64(p.GPUs()+d.GPUs()) <= v.Cluster.GPUs {
				list = append(list, candidate{split: &plan.Disaggregated{Prefill: p, Decode: d}})
			}
		}
	}
	return list, nil
}

// roles rates instance x as prefill and as decode worker; nothing where it does
// not fit.
func (q *Question) roles(v *Variant, x plan.Serving) (both [2][]role, err error) {
	plain := *v
	plain.Speculation = nil
	in, err := q.Build(&plain, x)
	if err != nil {
		if _, full := tooLarge(err, 0); full {
			err = nil
		}
		return both, err
	}
	gpus := float64(x.GPUs())
	d := infer.Disagg{Prefill: in.Stepper, Decode: in.Stepper, ISL: q.ISL, OSL: q.OSL, Cached: q.Cached, PrefillTokens: in.Engine.Setup().MaxBatchTokens * int64(x.DP), PrefillRanks: x.DP, Spread: q.Spread}
	both[0] = []role{{x, float64(d.ReadTime(1)), d.Reads() / gpus}}
	most := in.Engine.MaxConcurrency(q.ISL + q.OSL)
	for _, b := range roleBatches {
		if n := b * x.GPUs(); int64(n) <= most {
			t := float64(d.TPOT(n))
			both[1] = append(both[1], role{x, t, float64(n) / t / gpus})
		}
	}
	return both, nil
}

// leading is the instances on the front of list, thinned to mostRoles.
func leading(list []role) (front []plan.Serving) {
	slices.SortStableFunc(list, func(a, b role) int { return cmp.Or(cmp.Compare(a.slow, b.slow), cmp.Compare(b.perGPU, a.perGPU)) })
	best := 0.0
	for _, r := range list {
		if r.perGPU > best {
			best = r.perGPU
			if !slices.Contains(front, r.instance) {
				front = append(front, r.instance)
			}
		}
	}
	if n := len(front); n > mostRoles {
		all := front
		front = nil
		for i := range mostRoles {
			front = append(front, all[i*(n-1)/(mostRoles-1)])
		}
	}
	return front
}
