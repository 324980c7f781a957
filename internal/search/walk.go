package search

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/note"
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
				if tp > gpus || tp*cp > gpus { // and no overflow below
					continue
				}
				n := tp * cp * pp
				if n <= gpus && gpus%n == 0 && (s.DP == 0 || gpus/n == s.DP) {
					list = append(list, outer{tp, cp, pp, gpus / n})
				}
			}
		}
	}
	return list
}

// misfit says why no product of degrees fills the world.
func (s *Space) misfit(j *plan.Job) error {
	one := func(v []int) string {
		if len(v) == 1 {
			return fmt.Sprint(v[0])
		}
		return "any"
	}
	dp := "any"
	if s.DP > 0 {
		dp = fmt.Sprint(s.DP)
	}
	return note.Faultf(note.DegreesMisfit, "tp cp pp dp gpus node", "plan tp=%s x cp=%s x pp=%s x dp=%s cannot fill %d GPUs (%d per node): use degrees whose product is %d",
		one(s.TP), one(s.CP), one(s.PP), dp, j.GPUs, j.NodeGPUs, j.GPUs)
}

// visitor looks at a mode, a legal plan without its states, and tells whether
// any of them could fit. Where none can, larger micro-batches of the mode, which
// need no less, go to larger.
type visitor struct {
	mode    func(*plan.Plan) bool
	larger  func(*plan.Plan)
	illegal func(*plan.Plan, plan.Cause)
}

// walk visits every mode below o: the ranks' layout, the schedule and the
// micro-batch, smallest first. Dimensions that cannot matter to a candidate
// (sequence parallelism without tensor parallelism, an attention all-to-all
// without context parallelism) take one value, so no plan comes twice.
func (s *Space) walk(j *plan.Job, o outer, v *visitor) {
	p := s.Base
	p.TP, p.CP, p.PP, p.DP = o.tp, o.cp, o.pp, o.dp
	batches := s.microBatches(j, p, v)
	if len(batches) == 0 {
		return
	}
	for _, p.ETP = range s.ETP {
		for _, p.EP = range s.EP {
			if p.TP%p.ETP != 0 || p.ExpertRanks()%p.EP != 0 {
				if len(s.EP) == 1 {
					s.bad(p, plan.BadExperts, v)
				}
				continue
			}
			s.modes(j, p, batches, v)
		}
	}
}

// microBatches lists those that divide the batch over the replicas.
func (s *Space) microBatches(j *plan.Job, p plan.Plan, v *visitor) []int {
	var list []int
	for _, p.MicroBatch = range s.MicroBatch {
		if j.GlobalBatch%(p.DP*p.MicroBatch) == 0 {
			list = append(list, p.MicroBatch)
		} else {
			s.bad(p, plan.BadBatch, v)
		}
	}
	return list
}

// bad reports an illegal candidate before all its dimensions have a value.
func (s *Space) bad(p plan.Plan, c plan.Cause, v *visitor) {
	for _, n := range []*int{&p.VPP, &p.EP, &p.ETP, &p.MicroBatch} {
		*n = max(*n, 1)
	}
	v.illegal(&p, c)
}

// modes combines sequence and context parallelism's forms with the schedules.
func (s *Space) modes(j *plan.Job, p plan.Plan, batches []int, v *visitor) {
	for _, p.SP = range s.SP {
		if p.SP && p.TP == 1 {
			if len(s.SP) == 1 {
				s.bad(p, plan.BadCombination, v)
			}
			continue
		}
		for i, a2a := range s.CPAllToAll {
			if p.CP == 1 && i > 0 {
				continue
			}
			p.CPAllToAll = a2a
			s.schedules(j, p, batches, v)
		}
	}
}

func (s *Space) schedules(j *plan.Job, p plan.Plan, batches []int, v *visitor) {
	for _, p.Schedule = range s.Schedules {
		if p.PP == 1 && p.Schedule != sched.OneFOneB {
			if len(s.Schedules) == 1 {
				p.MicroBatch = batches[0]
				s.bad(p, plan.BadSchedule, v)
			}
			continue
		}
		for _, p.VPP = range s.VPP {
			if len(s.VPP) > 1 && (p.Schedule == sched.Interleaved) != (p.VPP > 1) {
				continue
			}
			if p.PP*p.VPP > j.MostChunks() { // nor do larger ones
				p.MicroBatch = batches[0]
				v.illegal(&p, plan.BadLayers)
				break
			}
			s.sizes(j, p, batches, v)
		}
	}
}

// sizes visits the micro-batches of one mode, smallest first.
func (s *Space) sizes(j *plan.Job, p plan.Plan, batches []int, v *visitor) {
	if len(s.ZeRO) == 1 { // given by the user: part of what must be legal
		p.ZeRO = s.ZeRO[0]
	}
	if len(s.ShardGroup) == 1 {
		p.ShardGroup = s.ShardGroup[0]
	}
	full := false
	for _, p.MicroBatch = range batches {
		switch c := p.Check(j); {
		case c != plan.Legal:
			v.illegal(&p, c)
		case full:
			v.larger(&p)
		default:
			full = !v.mode(&p)
		}
	}
}

// states calls visit for every way to run a mode: recomputation, overlap,
// offload and the sharding of states.
func (s *Space) states(p plan.Plan, visit func(*plan.Plan)) {
	for _, p.Recompute = range s.Recompute {
		for _, p.Overlap = range s.Overlap {
			for _, p.OffloadOptim = range s.Offload {
				for _, p.ZeRO = range s.ZeRO {
					if s.skips(&p) {
						continue
					}
					for i, group := range s.ShardGroup {
						if p.ShardGroup = group; i == 0 || s.shards(&p) {
							visit(&p)
						}
					}
				}
			}
		}
	}
}

// skips leaves out ZeRO stages that are not legal or no other plan: sharded over
// one rank, all stages are the same.
func (s *Space) skips(p *plan.Plan) bool {
	if len(s.ZeRO) == 1 {
		return false
	}
	return p.ZeRO == 2 && p.PP > 1 || p.ZeRO != s.ZeRO[0] && p.Replicas() == 1 && p.ExpertReplicas() == 1
}

// shards tells whether a second shard group is another plan for p.
func (s *Space) shards(p *plan.Plan) bool {
	return p.ZeRO == 3 && p.Replicas() > p.ShardGroup && p.Replicas()%p.ShardGroup == 0
}

// stateCount is the number of plans that states visits.
func (s *Space) stateCount(p *plan.Plan) int64 {
	n := 0
	for _, zero := range s.ZeRO {
		q := *p
		if q.ZeRO = zero; s.skips(&q) {
			continue
		}
		for i, g := range s.ShardGroup {
			if q.ShardGroup = g; i == 0 || s.shards(&q) {
				n++
			}
		}
	}
	return int64(n * len(s.Recompute) * len(s.Overlap) * len(s.Offload))
}
