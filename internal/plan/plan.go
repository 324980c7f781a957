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
	VPP            int  // virtual stages per rank, 1 = none
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
	LoRARank       int  // rank of the adapters when Tuning is not full
	UnfusedAttn    bool // attention materialises s x s scores (before FlashAttention)
}

// GPUs is the world size.
func (p *Plan) GPUs() int { return p.TP * p.CP * p.PP * p.DP }

// Recompute is the set of modules whose activations are dropped after the
// forward pass and computed again in the backward pass.
type Recompute uint8

// Modules; Full drops everything but the layer's input.
const (
	ReNorm      Recompute = 1 << iota // RMSNorm or LayerNorm outputs
	ReAct                             // SwiGLU or GeLU outputs
	ReMLAUp                           // MLA up-projections of q, k and v
	ReAttention                       // attention scores and core output
	ReMoE                             // routed experts from their dispatched input
	ReFull
	ReNone Recompute = 0
)

// ReSelective is what DeepSeek-V3 recomputes (arXiv:2412.19437 section 3.2.3):
// norms, SwiGLU and the MLA up-projections.
const ReSelective = ReNorm | ReAct | ReMLAUp

// Precision is the number formats of a run.
type Precision struct {
	Name       string      // bf16, fp8, fp8-tensor, mxfp8, nvfp4
	GEMM       unit.Format // linears inside the layers, forward and both gradients
	Attention  unit.Format // attention core
	Head       unit.Format // embedding and LM head
	SavedInput unit.Format // activations stored as inputs of linears
	Weights    unit.Format // resident working copy
	Gradients  unit.Format // accumulated gradients
	Master     unit.Format // master weights
	MasterKept bool        // a separate master copy exists
	Moment     unit.Format // each of Adam's two moments
	Dispatch   unit.Format // expert all-to-all, forward dispatch and its mirror in backward
	Combine    unit.Format // expert all-to-all, combine and its mirror
}

// Overlap says which communication may hide behind compute.
type Overlap struct {
	TP bool // tensor-parallel collectives pipelined with their GEMMs
	DP bool // gradient reduce-scatter and parameter all-gather behind backward and forward
	PP bool // boundary sends behind compute
	EP bool // expert all-to-all behind another micro-batch's compute (needs DualPipe, DualPipeV or two-batch overlap)
}

// Tuning is what the run trains.
type Tuning uint8

// Full trains every weight; LoRA adds adapters to frozen 16-bit weights; QLoRA
// to frozen 4-bit weights (arXiv:2305.14314).
const (
	FullTraining Tuning = iota
	LoRA
	QLoRA
)
