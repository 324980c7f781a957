package plan

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/sched"
)

// Explain words an illegal plan as one line that names the value and the mend.
func (p *Plan) Explain(c Cause, j *Job) error {
	m := j.Model
	switch c {
	case BadDegree:
		return fmt.Errorf("plan %s has a degree below 1: give degrees of at least 1", p)
	case BadWorld:
		return fmt.Errorf("plan tp=%d x cp=%d x pp=%d x dp=%d is %d GPUs, the cluster has %d: make the product equal", p.TP, p.CP, p.PP, p.DP, p.GPUs(), j.GPUs)
	case BadHeads:
		return p.explainHeads(j)
	case BadExperts:
		return p.explainExperts(j)
	case BadLayers:
		return fmt.Errorf("pp=%d with vpp=%d needs %d model parts, %s has %d layers beside embedding and head: use fewer stages", p.PP, p.VPP, p.Chunks(), m.Name, len(m.Layers))
	case BadBatch:
		return fmt.Errorf("global batch %d does not divide over dp=%d x mbs=%d: use a multiple of %d or another dp", j.GlobalBatch, p.DP, p.MicroBatch, p.DP*p.MicroBatch)
	case BadSequence:
		return fmt.Errorf("sequence length %d does not divide over cp=%d (two blocks per rank in ring attention) and tp=%d: use a multiple", j.Seq, p.CP, p.TP)
	case BadSchedule:
		return p.explainSchedule(j)
	case BadShard:
		return fmt.Errorf("shard=%d does not divide dp x cp = %d or the %d replicas of an expert: use a divisor of both", p.ShardGroup, p.DP*p.CP, p.ExpertReplicas())
	case BadCombination:
		return p.explainCombination(j)
	}
	return nil
}

// explainHeads names the first layer that does not divide.
func (p *Plan) explainHeads(j *Job) error {
	m, split := j.Model, p.headSplit()
	for i := range m.Layers {
		l := &m.Layers[i]
		switch a, tp := &l.Attention, int64(p.TP); {
		case a.Heads%split != 0:
			return fmt.Errorf("tp=%d (with cpcomm=a2a times cp=%d) does not divide the %d attention heads of layer %d of %s: use a divisor", p.TP, p.CP, a.Heads, i, m.Name)
		case l.FFN.Inner%tp != 0:
			return fmt.Errorf("tp=%d does not divide the FFN width %d of layer %d of %s: use a divisor", p.TP, l.FFN.Inner, i, m.Name)
		case !spread(keyHeads(a), tp):
			return fmt.Errorf("tp=%d neither divides nor is a multiple of the %d key/value heads of layer %d of %s: use a divisor", p.TP, keyHeads(a), i, m.Name)
		}
	}
	return nil
}

func (p *Plan) explainExperts(j *Job) error {
	if !j.Model.MoE() {
		return fmt.Errorf("ep=%d etp=%d need a mixture-of-experts model, %s is dense: leave ep and etp out", p.EP, p.ETP, j.Model.Name)
	}
	f := j.Model.FirstMoE()
	return fmt.Errorf("ep=%d etp=%d do not fit %d experts of width %d on %d expert ranks (dp x cp x tp / etp): ep must divide the experts and the ranks, etp the width and tp",
		p.EP, p.ETP, f.Experts, f.ExpertInner, p.ExpertRanks())
}

func (p *Plan) explainSchedule(j *Job) error {
	m := j.GlobalBatch / (p.DP * p.MicroBatch)
	if p.PP > 1 && !p.Schedule.Fits(p.PP, m, p.VPP) {
		return fmt.Errorf("%d micro-batches on pp=%d with vpp=%d are too many passes to lay out: use a larger mbs or fewer stages", m, p.PP, p.VPP)
	}
	switch p.Schedule {
	case sched.Interleaved:
		return fmt.Errorf("interleaved needs pp >= 2, vpp >= 2 and micro-batches (%d) in multiples of pp=%d: change vpp, dp or mbs", m, p.PP)
	case sched.DualPipe, sched.DualPipeV, sched.ZBV:
		return fmt.Errorf("%s needs vpp=1, at least 2 x pp = %d micro-batches (here %d), and for dualpipe an even pp and an even number: change pp, dp or mbs", p.Schedule, 2*p.PP, m)
	}
	return fmt.Errorf("schedule %s needs pp >= 2 and takes no vpp (pp=%d, vpp=%d): use interleaved for vpp, 1f1b for pp=1", p.Schedule, p.PP, p.VPP)
}

func (p *Plan) explainCombination(j *Job) error {
	switch {
	case p.SP && p.TP == 1:
		return fmt.Errorf("sp=1 needs tp > 1: sequence parallelism divides what tensor parallelism leaves whole")
	case p.ZeRO == 2 && p.PP > 1:
		return fmt.Errorf("zero=2 does not go with pp=%d: a pipeline keeps whole gradients until its last micro-batch; use zero=1 or zero=3", p.PP)
	case p.Tuning == FullTraining:
		if p.LoRARank > 0 {
			return fmt.Errorf("rank=%d needs tuning=lora or tuning=qlora: full training has no adapters", p.LoRARank)
		}
	case p.LoRARank < 1:
		return fmt.Errorf("tuning=%s needs rank=N, the rank of the adapters: add for example rank=16", p.Tuning)
	}
	if j.NodeGPUs > 0 && p.TP > j.NodeGPUs && p.TP%j.NodeGPUs != 0 {
		return fmt.Errorf("tp=%d does not fill nodes of %d GPUs: use a divisor or a multiple", p.TP, j.NodeGPUs)
	}
	return fmt.Errorf("tp=%d with experts divided otherwise (ep=%d, etp=%d) needs sp=1: the router must see each token once", p.TP, p.EP, p.ETP)
}
