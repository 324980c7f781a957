// Package plan describes a parallel training plan: degrees, sharding,
// micro-batch, schedule, recomputation, precision and overlap, with the rules
// that make a plan legal for a model, a cluster size and a batch. It counts no
// bytes and no seconds.
//
// Ranks are ordered tensor parallel innermost, then context, then expert (which
// is carved out of data parallelism), data, and pipeline outermost, as
// Megatron-LM places them by default (tp-cp-ep-dp-pp).
package plan

import (
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Plan is one complete configuration of a training run on GPUs() devices.
type Plan struct {
	TP, CP, PP, DP int  // GPUs = TP x CP x PP x DP
	VPP            int  // virtual stages (chunks) per rank, 1 = none
	EP, ETP        int  // expert parallel over DP x CP x TP / ETP ranks
	ZeRO           int  // 0..3; 1 = distributed optimizer; 3 = FSDP full shard
	ShardGroup     int  // ZeRO shards over this many data-parallel ranks (HSDP); 0 = all
	SP             bool // sequence parallel beside TP
	CPAllToAll     bool // context parallelism by all-to-all (Ulysses) instead of ring
	MicroBatch     int  // sequences per micro-batch
	Schedule       sched.Kind
	Recompute      Recompute
	Precision      Precision
	Overlap        Overlap
	OffloadOptim   bool // optimizer states live in host memory
	Tuning         Tuning
	LoRARank       int  // rank of the adapters when Tuning is not FullTraining
	UnfusedAttn    bool // attention writes its s x s scores to memory (before FlashAttention)
}

// GPUs is the world size.
func (p *Plan) GPUs() int { return p.TP * p.CP * p.PP * p.DP }

// ExpertRanks is the number of ranks of one pipeline stage over which experts
// can be spread: DP x CP x TP / ETP.
func (p *Plan) ExpertRanks() int { return p.DP * p.CP * p.TP / p.ETP }

// ExpertDP is the number of replicas of one expert shard in a stage.
func (p *Plan) ExpertDP() int { return p.ExpertRanks() / p.EP }

// Replicas is the number of ranks that hold the same weights outside the
// experts: DP x CP, twice that under DualPipe, whose mirrored stages hold them
// again.
func (p *Plan) Replicas() int { return p.DP * p.CP * p.Schedule.ParamCopies() }

// ExpertReplicas is the same for one expert shard.
func (p *Plan) ExpertReplicas() int { return p.ExpertDP() * p.Schedule.ParamCopies() }

// Shards is the number of ranks that share ZeRO's states of weights outside the
// experts: all replicas, or the shard group of HSDP.
func (p *Plan) Shards() int {
	if p.ShardGroup > 0 {
		return p.ShardGroup
	}
	return p.Replicas()
}

// ExpertShards is the same for routed experts: their replicas are fewer by EP.
func (p *Plan) ExpertShards() int {
	n := p.ExpertReplicas()
	if p.ShardGroup > 0 {
		n = min(n, p.ShardGroup)
	}
	return n
}

// EndsApart tells whether the first and the last part of the model lie on
// different ranks, so that what both need, the embedding matrix of a tied head or
// of an MTP module, is held twice.
func (p *Plan) EndsApart() bool {
	first, _ := p.Schedule.RankOf(0, p.PP, p.VPP)
	last, mirror := p.Schedule.RankOf(p.Chunks()-1, p.PP, p.VPP)
	return first != last && first != mirror
}

// MicroBatches is the number of micro-batches one pipeline runs per step, for a
// global batch of whole sequences; Check has made sure that it divides.
func (p *Plan) MicroBatches(globalBatch int) int {
	return globalBatch / (p.DP * p.MicroBatch)
}

// Recompute is the set of modules whose activations are dropped after the
// forward pass and computed again in the backward pass.
type Recompute uint8

// Modules; ReFull drops everything but the layer's input.
const (
	ReNorm      Recompute = 1 << iota // RMSNorm or LayerNorm outputs
	ReAct                             // SwiGLU or GeLU outputs
	ReMLAUp                           // MLA up-projections of q, k and v
	ReAttention                       // attention core
	ReMoE                             // routed experts from their dispatched input
	ReFull
	ReNone Recompute = 0
)

// ReSelective is what DeepSeek-V3 recomputes (arXiv:2412.19437 section 3.2.3):
// norms, SwiGLU and the MLA up-projections. With unfused attention Parse adds
// the attention core, Megatron-LM's selective recomputation (arXiv:2205.05198).
const ReSelective = ReNorm | ReAct | ReMLAUp

// Has tells whether module m is recomputed.
func (r Recompute) Has(m Recompute) bool { return r&(m|ReFull) != 0 }

// Overlap says which communication may hide behind compute. Schedules that pair two
// micro-batches (DualPipe and DualPipeV) hide the expert all-to-all by themselves; EP
// pairs them in the steady state of an interleaved pipeline, or without a pipeline
// (Megatron-LM's --overlap-moe-expert-parallel-comm), and does nothing elsewhere.
type Overlap struct {
	TP bool // tensor-parallel collectives pipelined with their GEMMs
	DP bool // gradient and parameter collectives behind backward and forward
	PP bool // boundary sends behind compute
	EP bool // expert all-to-all and the wait for its counts behind the kernels of another micro-batch
}

// Tuning is what the run trains.
type Tuning uint8

// QLoRAFormat stands for NF4 with double quantisation, 4.127 bits per parameter
// (arXiv:2305.14314 section 3): 4 bits and 16 per 128 values are 4.125.
const QLoRAFormat = unit.INT4

// FullTraining updates every weight; LoRA trains adapters on frozen 16-bit
// weights (arXiv:2106.09685); QLoRA on frozen 4-bit weights (arXiv:2305.14314).
const (
	FullTraining Tuning = iota
	LoRA
	QLoRA
)
