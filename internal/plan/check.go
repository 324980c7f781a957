package plan

import (
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
	// EndsAsLayers cuts the pipeline as if embedding and head were a layer each (Megatron-LM's
	// account-for-embedding- and account-for-loss-in-pipeline-split; BLOOM's 70 layers on 12
	// stages). Else layers move by their FLOPs, see Partition.
	EndsAsLayers bool
	Idle         int // sequences of GlobalBatch that only pad ranks left without work; see search.FSDP

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

// ends is how many chunks may hold no layer: the first one with the embedding
// alone and the last one with the head alone, as Megatron-LM cuts 126 layers over
// 16 stages of 8 chunks.
const ends = 2

func checkLayers(p *Plan, j *Job) Cause {
	if p.Chunks() > j.MostChunks() {
		return BadLayers
	}
	return Legal
}

// MostChunks is the number of model parts that the layers can fill.
func (j *Job) MostChunks() int { return len(j.Model.Layers) + ends }

// Chunks is the number of model parts along the pipeline.
func (p *Plan) Chunks() int { return p.Schedule.Chunks(p.PP, p.VPP) }

func checkHeads(p *Plan, j *Job) Cause {
	if p.TP == 1 && !p.CPAllToAll {
		return Legal
	}
	split := p.headSplit()
	for _, l := range j.distinct {
		if l.Attention.Heads%split != 0 || l.FFN.Inner%int64(p.TP) != 0 || !spread(keyHeads(&l.Attention), int64(p.TP)) {
			return BadHeads
		}
	}
	return Legal
}

// headSplit is how many ranks share the attention heads.
func (p *Plan) headSplit() int64 {
	if p.CPAllToAll {
		return int64(p.TP) * int64(p.CP)
	}
	return int64(p.TP)
}

// keyHeads is the heads that keys come in: under MLA every head makes its own.
func keyHeads(a *model.Attention) int64 {
	switch a.Kind {
	case model.MLA:
		return a.Heads
	case model.Linear:
		return a.KeyHeads
	}
	return a.KVHeads
}

// spread tells whether ranks get whole key/value heads each, or heads whole
// groups of ranks that hold copies.
func spread(heads, ranks int64) bool { return heads%ranks == 0 || ranks%heads == 0 }

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
	if j.GlobalBatch < 1 || j.GlobalBatch%(p.DP*p.MicroBatch) != 0 {
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
	if p.PP > 1 && !p.Schedule.Fits(p.PP, m, p.VPP) {
		return BadSchedule
	}
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
	if p.ShardGroup > 0 && ((p.DP*p.CP)%p.ShardGroup != 0 || p.ExpertReplicas()%p.ExpertShards() != 0) {
		return BadShard
	}
	return Legal
}

func checkCombination(p *Plan, j *Job) Cause {
	switch {
	case j.NodeGPUs > 0 && p.TP > j.NodeGPUs && p.TP%j.NodeGPUs != 0:
		return BadCombination
	case p.SP && p.TP == 1, p.ZeRO == 2 && p.PP > 1:
		return BadCombination
	case !p.SP && p.TP > 1 && (p.EP > 1 || p.ETP < p.TP) && j.moe():
		return BadCombination
	case p.Tuning != FullTraining && p.LoRARank < 1, p.Tuning == FullTraining && p.LoRARank > 0:
		return BadCombination
	}
	return Legal
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
