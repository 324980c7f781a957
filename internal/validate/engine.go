package validate

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// engine is how the software of a source executes a plan, as far as the table
// does not say.
type engine struct {
	overlap   plan.Overlap
	unfused   bool // attention writes its scores to memory
	wholeRows bool // tensor parallelism without sequence parallelism
	older     bool // fused attention of 2023, see olderAttention
	flash2    bool // FlashAttention 2, see publishedAttention
	// share of the sustained rate (cost.Machine.Sustained) that the engine's own kernels and
	// gaps leave, 0 to 1; 0 = all: what the rate was fitted on. See eagerShares.
	share     float64
	ends      bool // embedding and head count as a layer each where the pipeline is cut
	deepspeed bool // its share, where no run tells it, is that of engines with one of their own, see eagerShares
	halfGrads bool // gradients of 16 bit, see settleGradients
	memory    counter
	copies    bool          // expert exchange sends a copy for each choice
	bridge    bool          // recipes of Megatron-Bridge, see bridgeOptions
	early2025 bool          // libraries before July 2025, see lacksWideKeys
	nic       unit.ByteRate // of a GPU between nodes, nominal, where it is known not to be the catalogue's; 0 = the catalogue's
}

// counter is what a source's memory figure counts, and its unit.
type counter struct {
	unit      unit.Bytes // of the figure
	allocated bool       // tensors alone: no context, no communication buffers
	cache     float64    // of what the allocator holds, the share that holds no tensor
}

// fragmented is the share of the caching allocator's memory that holds no tensor: 15 % on
// average over training workloads (GMLake, arXiv:2401.08156, abstract).
const fragmented = 0.15

var (
	decimal   = counter{unit: 1e9}
	allocated = counter{unit: 1 << 30, allocated: true}
	device    = counter{unit: 1e9, cache: fragmented} // nvidia-smi
)

// megatron is the engine of current Megatron-Core recipes: collectives overlapped,
// fused attention. Sources that name the family get it.
var megatron = engine{overlap: plan.Overlap{TP: true, DP: true, PP: true}, memory: decimal}

// engines are the sources that ran something else.
//
//   - mosaic: llm-foundry of 2023, PyTorch FSDP, eager (README of training_runs.csv),
//     with the fused attention of its time.
//   - zb: Megatron-LM of 2023. Its published forward passes take twice as long as
//     its weight gradients of equal FLOPs (pipeline_bubbles.csv, arXiv:2401.10241
//     table 5), which fused attention would not; no tensor parallelism. First and
//     last stage hold one layer less. Its "GB" are max_memory_allocated over 2^30: two
//     micro-batches of the 6.2 B model take 21 of them, of which the states of a stage's
//     four layers alone are 14.5e9 bytes and its activations 7.4e9.
//   - bloom: Megatron-DeepSpeed of 2021 and 2022, before fused attention, sequence
//     parallelism and overlapped collectives. Memory as nvidia-smi shows it. Its nodes of eight GPUs
//     have four Omni-Path links of 100 Gbit/s (bigscience-workshop/bigscience:train/tr11-176B-ml/README.md).
//   - selrec: Megatron-LM of 2022: arXiv:2205.05198, before fused attention and
//     overlapped collectives; its full recomputation is the baseline without
//     sequence parallelism (table 5).
//   - mbridge: Megatron-Bridge, whose recipes are public, see bridgeOptions.
//   - dgxc: NeMo of early 2025, whose experts exchange by plain all-to-all, a copy per
//     choice: the dispatchers that send one to a node (flex: DeepEP, HybridEP) came with Megatron-Core 0.12.
//   - simumax: Megatron-LM without overlap of tensor-parallel collectives and with the same
//     all-to-all; the
//     figures are max_memory_allocated in GiB (README of training_runs.csv).
var engines = map[string]engine{
	"mosaic":  {overlap: plan.Overlap{DP: true}, older: true, memory: decimal},
	"zb":      {overlap: plan.Overlap{PP: true}, unfused: true, ends: true, memory: allocated},
	"bloom":   {unfused: true, wholeRows: true, ends: true, deepspeed: true, halfGrads: true, memory: device, nic: 4 * 12.5e9 / 8},
	"selrec":  {unfused: true, memory: decimal},
	"mbridge": {overlap: megatron.overlap, memory: decimal, bridge: true},
	"nemo":    megatron,
	"dgxc":    {overlap: megatron.overlap, memory: decimal, copies: true, early2025: true},
	"simumax": {overlap: plan.Overlap{DP: true}, copies: true, memory: allocated},
}

// eagerShares are what two engines lose beside the Megatron family that the sustained shares
// come from: element-wise kernels that eager PyTorch of 2023 does not fuse (mosaic), kernels and
// collectives of 2021 in snapshots of the second step (bloom). Each is the median over the
// engine's runs below longSeq tokens of all GPUs together (refit_test.go).
var eagerShares = map[string]float64{"mosaic": 0.886, "bloom": 0.876}

// fsdp is PyTorch's engine: of sources without an entry that shard gradients or weights too, which
// seven published runs of the Megatron family do, and all of mosaic's. PyTorch's own fused attention is FlashAttention 2.
// DeepSpeed is taken for it whatever it shards, since what it loses is mosaic's as well: bloom's is Megatron-DeepSpeed, and so was that of
// MT-NLG 530B, whose iterations of 60.1, 50.2 and 44.4 s (arXiv:2201.11990) take a quarter longer than Megatron's of 2021.
var fsdp = engine{overlap: plan.Overlap{DP: true}, flash2: true, memory: decimal}

// strangersShare is that of an engine which no published run tells: the mean of the eight that runs tell, those of the Megatron family by
// what their own dense runs hold of their devices' shares (refit_test.go).
const strangersShare = 0.983

// stranger is the engine of the other sources without an entry: tensor-parallel collectives that run beside their products
// need fused kernels, which no engine brings along but Transformer Engine (tp_comm_overlap).
var stranger = engine{overlap: plan.Overlap{DP: true, PP: true}, share: strangersShare, memory: decimal}

// engineOf is the engine of a run.
func engineOf(r *Run) engine {
	source := strings.ToLower(r.Source)
	e, ok := engines[source]
	switch {
	case ok:
		e.share = eagerShares[source]
	case r.strange():
		e = fsdp
		e.share = meanShare(slices.Collect(maps.Values(eagerShares)))
	case strings.Contains(source, "megatron") || strings.Contains(source, "nemo"):
		e = megatron
	default:
		e = stranger
	}
	if r.Source == "selrec" && r.Recompute == "full" {
		e.wholeRows = true
	}
	return e
}

// strange tells whether the run's engine is none that published runs know and PyTorch's or DeepSpeed's by what it shards or its name.
func (r *Run) strange() bool {
	_, known := engines[strings.ToLower(r.Source)]
	return !known && (r.ZeRO >= 2 || strings.Contains(strings.ToLower(r.Source), "deepspeed"))
}

// meanShare is the geometric mean of shares, 1 of none.
func meanShare(shares []float64) float64 {
	sum := 0.0
	for _, x := range shares {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(max(len(shares), 1)))
}

// eager tells whether the run's engine has a share of its own beside the Megatron family's.
func (r *Run) eager() bool { return eagerShares[strings.ToLower(r.Source)] > 0 || r.strange() }

// olderAttention is the share of current fused attention's rate that the kernels
// of 2023 reach, by GPU generation: fitted over mosaic's runs of 16,384 tokens and
// more, in which attention is most of the work (refit_test.go). They used none of
// Hopper's asynchronous instructions, hence the difference.
var olderAttention = map[string]float64{"ampere": 0.895, "hopper": 0.425}

// synchronous is the share of Hopper's fused attention that kernels reach which wait for their own loads
// and products, as those for Ampere do: FlashAttention 2 uses 35 % of an H100 (arXiv:2407.08608, abstract), of
// whose 989 TFLOP/s FlashAttention 3 reaches 637 (catalogue).
const synchronous = 0.35 * 989 / 637

// publishedAttention is the share of current fused attention's rate that FlashAttention 2 reaches on a
// generation: all of it where the hardware has no asynchronous products.
func publishedAttention(arch string) float64 {
	switch hw.Generation(arch) {
	case "hopper", "blackwell":
		return synchronous
	}
	return 1
}

// attention is the engine's share of current fused attention's rate; 0 = all.
func (e *engine) attention(arch string) float64 {
	switch fitted := olderAttention[arch]; {
	case e.older && fitted > 0:
		return fitted
	case e.older || e.flash2:
		return publishedAttention(arch)
	}
	return 0
}

// bridgeOptions sets what Megatron-Bridge's recipes for mixtures of experts on Blackwell say beyond
// the rows (NVIDIA-NeMo/Megatron-Bridge:src/megatron/bridge/perf_recipes, commit 067f987, which is later
// than the runs), and tells whether the expert exchange hides behind other micro-batches:
//
//   - where an interleaved pipeline's exchange crosses nodes it does (DeepSeek-V3 on B200:
//     overlap_moe_expert_parallel_comm); inside a node or an NVL72 rack no recipe has it;
//   - on GB200 and GB300 interleaved pipelines run attention, router and preprocessing as CUDA
//     graphs (DeepSeek-V3, Kimi-K2: cuda_graph_scope), so that no launch waits for the host.
//
// Hopper's recipe of Qwen3-235B-A22B has the overlap too, on a plain all-to-all; its published run took
// as long as with DeepEP and nothing hidden, which is how it is predicted.
func (e *engine) bridgeOptions(r *Run, d *hw.Device, nodeGPUs int64, o *cost.Options) (overlap bool) {
	if !e.bridge || hw.Generation(d.Arch) != "blackwell" || r.VPP < 2 {
		return false
	}
	o.Graphs = strings.HasPrefix(d.Name, "gb")
	return int64(r.EP) > nodeGPUs
}

// lacksWideKeys tells whether the engine's attention is unfused on the device for want of a
// kernel: Transformer Engine trains with keys wider than values (MLA: 192 and 128) by cuDNN alone
// (FlashAttention 2 takes equal widths), and on Blackwell from cuDNN 9.11 of mid 2025 on, which is
// later than these runs (its choice of a backend, transformer_engine/common/fused_attn/
// fused_attn.cpp; known from the project, no row states it). On Hopper it had the kernel before.
func (e *engine) lacksWideKeys(m *model.Model, d *hw.Device) bool {
	return e.early2025 && hw.Generation(d.Arch) == "blackwell" && slices.ContainsFunc(m.Layers, func(l model.Layer) bool {
		return l.Attention.Kind != model.Linear && l.Attention.QKDim != l.Attention.VDim
	})
}
