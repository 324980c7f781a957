package validate

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
)

// planOf is the run's layout as a plan, recomputation apart.
func planOf(r *Run, j *plan.Job) (*plan.Plan, error) {
	e := engineOf(r)
	p := &plan.Plan{TP: r.TP, CP: r.CP, PP: r.PP, DP: r.DP, VPP: r.VPP, EP: r.EP, ETP: 1, ZeRO: r.ZeRO, MicroBatch: r.MicroBatch,
		SP: r.TP > 1 && !e.wholeRows, Overlap: e.overlap, UnfusedAttn: e.unfused}
	var err error
	if p.Precision, err = precisionOf(r); err != nil {
		return nil, wrong(err, "precision")
	}
	if e.halfGrads {
		settleGradients(&p.Precision)
	}
	if p.DP < 0 {
		p.DP = r.GPUs / (p.TP * p.CP * p.PP)
	}
	if p.ZeRO < 0 {
		p.ZeRO = 1 // Megatron's distributed optimizer (README of training_runs.csv)
	}
	if p.ZeRO == 3 && r.ShardGroup > 0 && r.ShardGroup < p.DP*p.CP {
		p.ShardGroup = r.ShardGroup
	}
	if err := schedule(r, p, len(j.Model.Layers)); err != nil {
		return nil, wrong(err, "schedule")
	}
	return p, settleExperts(p, j)
}

// settleExperts gives expert-tensor parallelism Megatron's default, tp, or the
// largest divisor of it with which the plan is legal. Experts narrower than the
// hidden size are taken to be whole: nobody splits them further.
func settleExperts(p *plan.Plan, j *plan.Job) error {
	c, most := plan.Legal, 1
	if moe := j.Model.FirstMoE(); moe != nil && moe.ExpertInner >= j.Model.Hidden {
		most = p.TP
	}
	for etp := most; etp >= 1; etp-- {
		if p.TP%etp != 0 {
			continue
		}
		p.ETP = etp
		if c = p.Check(j); c == plan.Legal {
			return nil
		}
	}
	return wrong(p.Explain(c, j), causeColumns[c]...)
}

// causeColumns are the columns that an illegal plan comes from.
var causeColumns = map[plan.Cause][]string{
	plan.BadWorld: {"tp", "pp", "cp", "dp", "gpus"}, plan.BadLayers: {"pp", "vpp"}, plan.BadHeads: {"tp", "cp"}, plan.BadExperts: {"ep"},
	plan.BadDegree: {"tp", "pp", "vpp", "cp", "ep", "dp", "micro_batch"}, plan.BadSequence: {"seq_len", "cp", "tp"}, plan.BadCombination: {"tp", "pp", "cp", "ep", "zero", "shard_group"},
	plan.BadBatch: {"global_batch_seqs", "dp", "micro_batch"}, plan.BadSchedule: {"schedule", "pp", "vpp"}, plan.BadShard: {"zero", "shard_group"},
}

// schedule sets the pipeline schedule: the run's own, interleaved where it has
// virtual stages, else 1F1B. An interleaved run that does not say how many takes
// as many as its layers allow, embedding and head counted as one each, which is
// how the Zero Bubble runs are cut (22 layers over 8 stages: 3 chunks each).
func schedule(r *Run, p *plan.Plan, layers int) error {
	p.Schedule = sched.OneFOneB
	if r.VPP > 1 {
		p.Schedule = sched.Interleaved
	}
	if r.Schedule != "" {
		k, ok := sched.ParseKind(strings.ToLower(r.Schedule))
		if !ok {
			return fmt.Errorf("%q is unknown: `ridgeline schedule --help` lists all", r.Schedule)
		}
		p.Schedule = k
	}
	if p.Schedule == sched.Interleaved && p.VPP == 1 {
		p.VPP = (layers + 2) / p.PP
	}
	return nil
}

// recomputations are the candidates for a run, the least first. What Megatron-LM calls
// selective recomputes unfused attention (arXiv:2205.05198).
func recomputations(r *Run, m *model.Model, unfused bool) ([]plan.Recompute, error) {
	selective := plan.ReSelective
	if unfused {
		selective = plan.ReAttention
	}
	if r.Recompute != "" {
		c, ok := plan.ParseRecompute(strings.ToLower(r.Recompute))
		if !ok {
			return nil, fmt.Errorf("recompute %q is unknown: use none, selective, full or modules joined by +", r.Recompute)
		}
		if c == plan.ReSelective {
			c = selective
		}
		return []plan.Recompute{c}, nil
	}
	list := []plan.Recompute{plan.ReNone, selective}
	if m.MoE() {
		list = append(list, selective|plan.ReMoE)
	}
	return append(list, plan.ReFull), nil
}
