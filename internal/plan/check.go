package plan

import (
	"fmt"
	"reflect"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/sched"
)

// Job is what a plan must serve: a model, a world size and a batch.
type Job struct {
	Model       *model.Model
	GPUs        int
	NodeGPUs    int
	GlobalBatch int // sequences per optimizer step, all ranks
	Seq         int // tokens per sequence
	MTP         int // MTP modules trained along
	Idle        int // sequences of GlobalBatch that only pad ranks left without work; see search.FSDP

	distinct []*model.Layer // layers that differ; see NewJob
}

// NewJob notes the model's distinct layers, so that checking a plan takes a few
// divisions whatever the depth. NodeGPUs is the size of a scale-up domain.
func NewJob(m *model.Model, gpus, nodeGPUs, globalBatch, seq, mtp int) *Job {
	j := &Job{Model: m, GPUs: gpus, NodeGPUs: nodeGPUs, GlobalBatch: globalBatch, Seq: seq, MTP: mtp}
	for i := range m.Layers {
		l := &m.Layers[i]
		known := false
		for _, d := range j.distinct {
			known = known || reflect.DeepEqual(d, l)
		}
		if !known {
			j.distinct = append(j.distinct, l)
		}
	}
	return j
}

// Distinct are the model's layers without repetition, in order of appearance.
func (j *Job) Distinct() []*model.Layer { return j.distinct }

// Cause is why a plan is illegal, for counting rejections.
type Cause uint8

// Causes; Legal means none.
const (
	Legal Cause = iota
	BadDegree
	BadWorld
	BadHeads
	BadExperts
	BadLayers
	BadBatch
	BadSequence
	BadSchedule
	BadShard
	BadCombination
	NumCauses
)

var causeNames = [NumCauses]string{"legal", "degree out of range", "degrees do not multiply to the GPUs",
	"heads do not divide by tp", "experts do not divide by ep", "layers do not cover the stages",
	"batch does not divide", "sequence does not divide", "schedule does not allow it",
	"shard group does not divide", "combination not supported"}

// String is the cause as reports group it.
func (c Cause) String() string { return causeNames[c] }

// Check tells whether a complete plan is legal for the job. It is called for
// every candidate of a search, so it only classifies; Explain words it.
func (p *Plan) Check(j *Job) Cause {
	switch {
	case p.TP < 1 || p.PP < 1 || p.CP < 1 || p.DP < 1 || p.VPP < 1 || p.EP < 1 || p.ETP < 1 || p.MicroBatch < 1:
		return BadDegree
	case p.GPUs() != j.GPUs:
		return BadWorld
	}
	checks := [...]func(*Plan, *Job) Cause{checkLayers, checkHeads, checkExperts, checkBatch, checkSchedule, checkShard, checkCombination}
	for _, check := range checks {
		if c := check(p, j); c != Legal {
			return c
		}
	}
	return Legal
}

func checkLayers(p *Plan, j *Job) Cause {
	if p.Chunks() > len(j.Model.Layers) {
		return BadLayers
	}
	return Legal
}

// Chunks is the number of model parts along the pipeline.
func (p *Plan) Chunks() int { return p.Schedule.Chunks(p.PP, p.VPP) }

func checkHeads(p *Plan, j *Job) Cause {
	if p.TP == 1 && !p.CPAllToAll {
		return Legal
	}
	split := int64(p.TP)
	if p.CPAllToAll {
		split *= int64(p.CP)
	}
	for _, l := range j.distinct {
		if l.Attention.Heads%split != 0 || l.FFN.Inner%int64(p.TP) != 0 {
			return BadHeads
		}
	}
	return Legal
}

func checkExperts(p *Plan, j *Job) Cause {
	moe := false
	for _, l := range j.distinct {
		f := &l.FFN
		if !f.MoE() {
			continue
		}
		moe = true
		if f.Experts%int64(p.EP) != 0 || f.ExpertInner%int64(p.ETP) != 0 || f.SharedInner%int64(p.ETP) != 0 {
			return BadExperts
		}
	}
	switch {
	case !moe && (p.EP > 1 || p.ETP > 1):
		return BadExperts
	case p.TP%p.ETP != 0 || p.ExpertRanks()%p.EP != 0:
		return BadExperts
	}
	return Legal
}

func checkBatch(p *Plan, j *Job) Cause {
	if j.GlobalBatch%(p.DP*p.MicroBatch) != 0 {
		return BadBatch
	}
	parts := p.CP
	if p.SP {
		parts *= p.TP
	}
	if p.CP > 1 && !p.CPAllToAll {
		parts *= 2 // ring attention pairs an early and a late block for causal balance
	}
	if j.Seq%parts != 0 {
		return BadSequence
	}
	return Legal
}

func checkSchedule(p *Plan, j *Job) Cause {
	m := j.GlobalBatch / (p.DP * p.MicroBatch)
	switch p.Schedule {
	case sched.Interleaved:
		if p.VPP < 2 || m%p.PP != 0 || p.PP < 2 {
			return BadSchedule
		}
	case sched.DualPipe:
		if p.VPP != 1 || p.PP%2 != 0 || m%2 != 0 || m < 2*p.PP {
			return BadSchedule
		}
	case sched.ZBV, sched.DualPipeV:
		if p.VPP != 1 || p.PP < 2 || m < 2*p.PP {
			return BadSchedule
		}
	default:
		if p.VPP != 1 || (p.PP == 1 && p.Schedule != sched.OneFOneB) {
			return BadSchedule
		}
	}
	return Legal
}

func checkShard(p *Plan, _ *Job) Cause {
	if p.ShardGroup > 0 && (p.DP*p.CP)%p.ShardGroup != 0 {
		return BadShard
	}
	return Legal
}

func checkCombination(p *Plan, j *Job) Cause {
	switch {
	case p.TP > j.NodeGPUs && p.TP > 1 && j.NodeGPUs > 0 && p.TP%j.NodeGPUs != 0:
		return BadCombination
	case p.SP && p.TP == 1:
		return BadCombination
	case !p.SP && p.TP > 1 && (p.EP > 1 || p.ETP < p.TP) && j.moe():
		return BadCombination
	case p.Tuning != FullTraining && p.LoRARank < 1, p.Tuning == FullTraining && p.LoRARank > 0:
		return BadCombination
	}
	return Legal
}

// Explain words an illegal plan as one line that names the value and the mend.
func (p *Plan) Explain(c Cause, j *Job) error {
	m := j.Model
	switch c {
	case BadDegree:
		return fmt.Errorf("plan %s has a degree below 1: give degrees of at least 1", p)
	case BadWorld:
		return fmt.Errorf("plan tp=%d x cp=%d x pp=%d x dp=%d is %d GPUs, the cluster has %d: make the product equal", p.TP, p.CP, p.PP, p.DP, p.GPUs(), j.GPUs)
	case BadHeads:
		return fmt.Errorf("tp=%d (cp=%d) does not divide the attention heads or the FFN width of %s (%d heads): use a divisor", p.TP, p.CP, m.Name, m.Layers[0].Attention.Heads)
	case BadExperts:
		return p.explainExperts(j)
	case BadLayers:
		return fmt.Errorf("pp=%d with vpp=%d needs %d model parts, %s has %d layers: use fewer stages", p.PP, p.VPP, p.Chunks(), m.Name, len(m.Layers))
	case BadBatch:
		return fmt.Errorf("global batch %d does not divide over dp=%d x mbs=%d: use a multiple of %d or another dp", j.GlobalBatch, p.DP, p.MicroBatch, p.DP*p.MicroBatch)
	case BadSequence:
		return fmt.Errorf("sequence length %d does not divide over cp=%d (two blocks per rank in ring attention) and tp=%d: use a multiple", j.Seq, p.CP, p.TP)
	case BadSchedule:
		return p.explainSchedule(j)
	case BadShard:
		return fmt.Errorf("shard=%d does not divide dp x cp = %d: use a divisor", p.ShardGroup, p.DP*p.CP)
	case BadCombination:
		return p.explainCombination(j)
	}
	return nil
}

// moe tells whether any layer routes.
func (j *Job) moe() bool {
	for _, l := range j.distinct {
		if l.FFN.MoE() {
			return true
		}
	}
	return false
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
	case p.Tuning == FullTraining:
		if p.LoRARank > 0 {
			return fmt.Errorf("rank=%d needs tuning=lora or tuning=qlora: full training has no adapters", p.LoRARank)
		}
	case p.LoRARank < 1:
		return fmt.Errorf("tuning=%s needs rank=N, the rank of the adapters: add for example rank=16", p.Tuning)
	}
	if p.TP > j.NodeGPUs && p.TP%j.NodeGPUs != 0 {
		return fmt.Errorf("tp=%d does not fill nodes of %d GPUs: use a divisor or a multiple", p.TP, j.NodeGPUs)
	}
	return fmt.Errorf("tp=%d with experts divided otherwise (ep=%d, etp=%d) needs sp=1: the router must see each token once", p.TP, p.EP, p.ETP)
}
