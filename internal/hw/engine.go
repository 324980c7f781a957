package hw

import "github.com/ridgeline/ridgeline/internal/unit"

// Engine holds the kernels that a serving engine brings along on one generation.
// A block of zeros means that nothing was fitted; another engine's stands in.
type Engine struct {
	Name      string // vllm, sglang, trtllm
	Context   [NumOperands]Attention
	MLA       [NumOperands]Attention // of a prompt: latent attention expanded to heads
	Decode    [NumCaches]Decode
	Latent    [NumCaches]Decode // absorbed latent attention: one key head of latent + rope
	GEMM      []Product
	MoE       []Product // fused routed experts: two grouped products and what lies around them
	AllReduce OneShot
	Module    [NumModules]Module
	Host      Host
	Rows      []RowRate  // of vector units
	Blocks    []RowBlock // of the same
	Core      float64    // FLOP/s of vector units in the attention core of generated tokens; 0 = as of prompts
}

// Host is what an engine's host adds to each step of a machine that was calibrated.
type Host struct {
	Step, Sequence unit.Seconds // of every step, of each sequence in it
	Whole          *WholeRuns   // nil = not fitted
	Source         string
}

// WholeRuns is the other constants of an engine's profile (see infer.Profile), where they
// were fitted to whole runs on the machine.
type WholeRuns struct {
	Prompt                      unit.Seconds
	Request, RequestToken       unit.Seconds
	Sustained, Launch, Quantise float64
	Arrival, Admission          float64
}

// Known tells whether the host was measured.
func (h *Host) Known() bool { return h.Source != "" }

// HostOf is the host of an engine; unknown where it was not measured.
func (k *Kernels) HostOf(engine string) Host {
	if k != nil {
		for i := range k.Engines {
			if k.Engines[i].Name == engine {
				return k.Engines[i].Host
			}
		}
	}
	return Host{}
}

// RowRate is the rate at which vector units multiply a matrix of Format with a few
// rows: llama.cpp has kernels for one row and for blocks of several, none of which
// reads a weight once for all rows.
type RowRate struct {
	Format unit.Format // of the weights
	Rows   int64
	Rate   float64 // FLOP/s, the time of reading the weights left out
}

// RowBlock tells that an engine lays weights of Format out anew when it loads them, and
// multiplies them with blocks of Rows rows, what remains row by row, and with what its
// experts get always row by row.
type RowBlock struct {
	Format unit.Format // of the weights
	Rows   int64       // from 2
	Source string
}

// Stream is the rate at which vector units multiply weights of Format with one vector
// where Bytes of weights are read over and over: a working set that the caches hold is
// read faster than memory. Between working sets the time of a byte is taken as linear in
// the logarithm of their size.
type Stream struct {
	Format unit.Format // of the weights
	Bytes  float64     // of the working set
	Rate   float64     // bytes/s
}

// RowEnd is what the end of a row of weights takes beside its columns: the partial sums of a
// vector unit are added up, and one number is stored. Of several threads all together.
type RowEnd struct {
	Format unit.Format // of the weights
	Time   unit.Seconds
}

// StreamColumns is how many columns the rows had of which Streams were measured.
const StreamColumns = 1024

// The modules: a latent-attention block over a prompt, and of a decode step.
const (
	ContextModule = iota
	DecodeModule
	NumModules
)

// Module is what the measurement of a latent-attention block holds beside its
// products and its core.
type Module struct {
	Rest unit.Seconds // norms, rotary embedding, copies, gaps between kernels
	Host unit.Seconds // a block launched by the host cannot take less
}

// Known tells whether the block holds constants.
func (m *Module) Known() bool { return m.Rest > 0 }

// NumOperands counts the formats of a prompt's core: 16-bit operands and cache,
// 16-bit operands with an 8-bit cache, 8-bit operands. Shares of the last are of
// the FP8 peak.
const NumOperands = 3

// Operands is the index of a core's formats.
func Operands(core, cache unit.Format) int {
	switch {
	case core.Bits() <= 8:
		return 2
	case cache.Bits() <= 8:
		return 1
	}
	return 0
}

// NumCaches counts the formats of a decode's cache: 16 bit and 8 bit.
const NumCaches = 2

// Decode shapes the core of attention for few query tokens per sequence. Work
// items, one per sequence and key head, walk over their keys; where they are fewer
// than the SMs, the keys are split and the parts joined.
type Decode struct {
	Share   float64              // of the BF16 peak, on padded query rows
	Pad     float64              // rows that a product computes besides the query heads of a key head
	Memory  [NumHeadDims]float64 // of the HBM peak, streaming the cache, by HeadDims
	Reach   float64              // how many SMs' part of the HBM rate one SM can draw
	Split   float64              // keys: parts are not shorter
	Item    unit.Seconds         // start and end of a work item
	Join    unit.Seconds         // joining the parts of split keys
	Overlap float64              // 0..1, how much of the smaller of compute and memory time is not hidden
	Launch  unit.Seconds
	// More than Group query heads of a key head run one by one, each reading the
	// cache at GroupRate times the HBM rate (out of the L2); 0 = any number runs at once.
	Group, GroupRate float64
	// A kernel run over and over finds a cache below Near bytes in the L2, NearRate
	// times as fast; serving steps do not, see work.Op.Warm.
	Near     unit.Bytes
	NearRate float64
}

// Known tells whether the block holds constants.
func (d *Decode) Known() bool { return d.Launch > 0 }

// Product shapes an engine's matrix products of one format, with what the engine
// does around them: quantising of the activations, permutation, a slow host.
type Product struct {
	Kernel  string      // as the tables name it; the first entry of a format is the engine's usual one
	Weights unit.Format // as stored
	Format  unit.Format // as multiplied
	GEMM                // Grouped unused
	// Dense products only.
	PerRow, PerElement unit.Seconds // of the activations
	Host               unit.Seconds // a call outside a CUDA graph cannot take less
	// Routed experts only.
	Passes float64      // over the 16-bit activations and results of each product
	Others float64      // the same over choices whose experts lie on other ranks: sorted, masked, summed
	Expert unit.Seconds // each expert on the rank, per product: scheduling and buffers go over those that no token chose as well
}

// OneShot shapes an engine's own all-reduce kernels over peer-to-peer memory. One
// pass reads the others' whole tensors; two passes read a share of each and gather.
type OneShot struct {
	Start unit.Seconds // one pass of two ranks, small message, in a CUDA graph
	Rank  unit.Seconds // each further rank
	Pass  unit.Seconds // the second pass
	Share float64      // of the scale-up link's datasheet rate
	Most  unit.Bytes   // larger tensors take the library
	Eager unit.Seconds // least time of a call outside a CUDA graph
}

// Known tells whether the block holds constants.
func (o *OneShot) Known() bool { return o.Start > 0 }

// Exchange shapes the expert all-to-all of one scale-up domain (DeepEP's kernels);
// index 0 is the dispatch, 1 the way back.
type Exchange struct {
	Start [2]unit.Seconds // small message
	Share [2]float64      // of the scale-up link's datasheet rate
	PerSM [2]float64      // of the same, by one multiprocessor; 0 = they do not bind
}

// Known tells whether the block holds constants.
func (x *Exchange) Known() bool { return x.Start[0] > 0 }
