// Package work turns a model and a plan into the operations and the resident
// tensors of one rank: matrix multiplications with their real shapes, attention,
// memory-bound passes and collectives. Exact counting only: no rates, no seconds.
package work

import (
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Kind is how an operation is priced.
type Kind uint8

// The kinds. Elementwise ops are priced by Bytes alone.
const (
	GEMM      Kind = iota // one M x N x K product
	Grouped               // Groups products of M x N x K each (routed experts)
	Attention             // fused attention core, FLOPs as given
	Elementwise
	Collective
)

// Phase is the part of the step an operation belongs to.
type Phase uint8

// Input is the gradient of a layer's input (the pipeline's B), Weight the
// gradient of its weights (W), Recompute is forward work done again before
// Input, Optimizer the parameter update.
const (
	Forward Phase = iota
	Input
	Weight
	Recompute
	Optimizer
	NumPhases
)

var phaseNames = [NumPhases]string{"forward", "input gradient", "weight gradient", "recompute", "optimizer"}

// String is the phase's name in reports.
func (p Phase) String() string { return phaseNames[p] }

// Op is one operation of one rank on one micro-batch (or, for the optimizer, on
// one step).
type Op struct {
	Name    string
	Part    string // report group: attention, dense ffn, routed experts, head, ...
	Kind    Kind
	Phase   Phase
	Format  unit.Format // of the product
	M, N, K int64       // per group
	Groups  int64       // 1 for GEMM
	FLOPs   unit.FLOPs
	Bytes   unit.Bytes // HBM traffic: read and write once each
	// Fwd tells attention's direction; its backward computes scores again.
	Backward bool
	HeadDim  int64 // attention: d_qk
	SeqQ     int64 // attention: query tokens of one sequence on this rank
	// Attention of a serving step, all zero in training. Groups is then query heads
	// on this rank x Sequences. Decode marks few query tokens per sequence (one, or
	// one and its drafts) whose keys are split among the SMs; absorbed MLA is a decode
	// of one key head with HeadDim = latent + rope.
	Decode    bool
	Sequences int64
	KVHeads   int64       // key heads on this rank
	SeqKV     float64     // keys that one sequence holds after this step (a window cut off), mean
	KV        unit.Format // of the cache's elements; Bytes counts it already
	// Grouped in a serving step: Rows of all groups together and the expected number
	// of groups Touched by at least one row; 0 = M rows in each group.
	Rows, Touched float64
	// Held is the groups whose weights the rank holds, touched or not; 0 = Groups.
	Held int64
	// Choices of experts by all tokens that the rank sees, those of other ranks' experts
	// included: what sorting and the weighted sum walk over. 0 = Rows.
	Choices float64
	// Stored is the weights' format where the kernel widens them on the way to the
	// product's (weight-only quantisation); FP32, the zero value, = Format. Bytes
	// counts it already.
	Stored unit.Format
	Kernel string // which of an engine's kernels runs, as its tables name it; empty = the usual one
	Warm   bool   // the operands may still lie in the L2: kernels timed in a loop, no step of a model
	Comm   Comm   // Collective only
	Count  int64  // launches; >= 1
}

// CommKind is a collective's pattern.
type CommKind uint8

// The patterns.
const (
	AllGather CommKind = iota
	ReduceScatter
	AllReduce
	AllToAll     // uniform exchange: every rank keeps 1/n
	Dispatch     // expert all-to-all: Bytes is what one rank's tokens weigh once, see Comm
	SendRecv     // to one neighbour
	RingExchange // n-1 neighbour steps (ring attention)
)

// Axis is the parallel dimension a collective runs over.
type Axis uint8

// The axes; EDP is the data-parallel group of one expert shard.
const (
	AxisTP Axis = iota
	AxisCP
	AxisEP
	AxisDP
	AxisEDP
	AxisPP
	NumAxes
)

var axisNames = [NumAxes]string{"tp", "cp", "ep", "dp", "edp", "pp"}

// String is the axis's name in reports.
func (a Axis) String() string { return axisNames[a] }

// Comm describes one collective.
type Comm struct {
	Kind CommKind
	Axis Axis
	// Size is the number of ranks and Stride the distance of two neighbouring
	// members in rank order; together they decide which part stays in a node.
	Size, Stride int64
	// Bytes per rank: AllGather and ReduceScatter the full (gathered) tensor,
	// AllReduce the tensor, AllToAll what a rank holds before, SendRecv the
	// message, RingExchange one block, Dispatch tokens x hidden x element size.
	Bytes unit.Bytes
	// Dispatch only: choices per token, expert groups a token may use (0 = any)
	// of Groups.
	TopK, TopGroups, Groups int64
	// Dispatch: routed experts of the layer, on Size ranks; 0 = not given.
	Experts int64
	// OneShot: an AllReduce may also take a serving engine's own peer-to-peer kernels
	// (one pass or two), which have a fraction of the library's latency.
	OneShot bool
	Eager   bool // launched by the host, not from a CUDA graph
	// Dispatch: the low-latency kernels of decode steps; Combine the way back.
	LowLatency, Combine bool
	// Dispatch: choices of the fullest rank over the mean; 0 = even.
	Fullest float64
	SMs     int64 // Dispatch: multiprocessors its normal kernels take; 0 = the usual 20
}
