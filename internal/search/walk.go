package search

import (
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
)

// outer is the part of a candidate that decides its pipeline: one unit of work
// for a worker.
type outer struct{ tp, cp, pp, dp int }

// outers lists the products that fill the world.
func (s *Space) outers(gpus int) []outer {
	var list []outer
	for _, tp := range s.TP {
		for _, cp := range s.CP {
			for _, pp := range s.PP {
				if gpus%(tp*cp*pp) == 0 {
					list = append(list, outer{tp, cp, pp, gpus / (tp * cp * pp)})
				}
			}
		}
	}
	return list
}

// visitor looks at one combination; n is the number of candidates it stands for.
type visitor struct {
	legal   func(*plan.Plan)
	illegal func(*plan.Plan, plan.Cause)
}

// walk calls the visitor for every candidate below o. Dimensions that cannot
// matter to a candidate (sequence parallelism without tensor parallelism, shard
// groups without ZeRO-3) take their first value only, so no plan comes twice.
func (s *Space) walk(j *plan.Job, o outer, v *visitor) {
	p := s.Base
	p.TP, p.CP, p.PP, p.DP = o.tp, o.cp, o.pp, o.dp
	for _, p.MicroBatch = range s.MicroBatch {
		if j.GlobalBatch%(p.DP*p.MicroBatch) != 0 {
			q := p
			q.VPP, q.EP, q.ETP = 1, 1, 1
			v.illegal(&q, plan.BadBatch)
			continue
		}
		for _, p.ETP = range s.ETP {
			if p.TP%p.ETP != 0 {
				continue
			}
			for _, p.EP = range s.EP {
				if p.ExpertRanks()%p.EP != 0 {
					continue
				}
				s.schedules(j, p, v)
			}
		}
	}
}

func (s *Space) schedules(j *plan.Job, p plan.Plan, v *visitor) {
	for _, p.Schedule = range s.Schedules {
		if p.PP == 1 && p.Schedule != sched.OneFOneB {
			continue
		}
		for _, p.VPP = range s.VPP {
			if (p.Schedule == sched.Interleaved) != (p.VPP > 1) || p.PP*p.VPP > len(j.Model.Layers) {
				continue
			}
			s.modes(j, p, v)
		}
	}
}

// modes combines what does not change the layout of ranks; legality is decided
// once per sequence-parallel and context-parallel mode.
func (s *Space) modes(j *plan.Job, p plan.Plan, v *visitor) {
	for _, p.SP = range s.SP {
		if p.SP && p.TP == 1 {
			if len(s.SP) == 1 {
				v.illegal(&p, plan.BadCombination)
			}
			continue
		}
		for i, a2a := range s.CPAllToAll {
			if p.CP == 1 && i > 0 {
				continue
			}
			p.CPAllToAll = a2a
			if c := p.Check(j); c != plan.Legal {
				v.illegal(&p, c)
				continue
			}
			s.states(p, v)
		}
	}
}

func (s *Space) states(p plan.Plan, v *visitor) {
	for _, p.Recompute = range s.Recompute {
		for _, p.Overlap = range s.Overlap {
			for _, p.OffloadOptim = range s.Offload {
				for _, p.ZeRO = range s.ZeRO {
					for i, g := range s.ShardGroup {
						if i > 0 && (p.ZeRO < 3 || p.Replicas() <= g || p.Replicas()%g != 0) {
							continue
						}
						p.ShardGroup = g
						v.legal(&p)
					}
				}
			}
		}
	}
}
