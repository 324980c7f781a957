package search

import (
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/train"
)

// only is the plan of a space that holds one, if it is legal: what follows a
// slider names all keys, and needs no bounds and no workers. Where it is not
// legal the walk says why.
func (s *Space) only(j *plan.Job) (*plan.Plan, bool) {
	for _, n := range []int{len(s.TP), len(s.CP), len(s.PP), len(s.EP), len(s.ETP), len(s.VPP), len(s.MicroBatch), len(s.ZeRO), len(s.ShardGroup),
		len(s.SP), len(s.CPAllToAll), len(s.Offload), len(s.Schedules), len(s.Recompute), len(s.Overlap)} {
		if n != 1 {
			return nil, false
		}
	}
	outers := s.outers(j.GPUs)
	if len(outers) != 1 {
		return nil, false
	}
	p, o := s.Base, outers[0]
	p.TP, p.CP, p.PP, p.DP = o.tp, o.cp, o.pp, o.dp
	p.EP, p.ETP, p.VPP, p.MicroBatch, p.ZeRO, p.ShardGroup = s.EP[0], s.ETP[0], s.VPP[0], s.MicroBatch[0], s.ZeRO[0], s.ShardGroup[0]
	p.SP, p.CPAllToAll, p.OffloadOptim, p.Schedule, p.Recompute, p.Overlap = s.SP[0], s.CPAllToAll[0], s.Offload[0], s.Schedules[0], s.Recompute[0], s.Overlap[0]
	if p.SP && p.TP == 1 || p.PP == 1 && p.Schedule != sched.OneFOneB || p.TP%p.ETP != 0 || p.ExpertRanks()%p.EP != 0 || p.Check(j) != plan.Legal {
		return nil, false
	}
	return &p, true
}

// evaluated is the outcome of a space that holds one plan.
func evaluated(e *train.Evaluator, p *plan.Plan) (*Outcome, error) {
	r, err := e.Evaluate(p)
	if err != nil {
		return nil, err
	}
	if !r.Fits {
		return &Outcome{Nearest: r, Count: Count{TooLarge: 1}}, nil
	}
	return &Outcome{Plans: []*train.Result{r}, Count: Count{LaidOut: 1}}, nil
}
