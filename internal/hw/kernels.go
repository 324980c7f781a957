package hw

import (
	"slices"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Kernels holds the constants that shape kernel time on one generation of GPUs:
// how close to the peak software comes, and what a tile, a wave, a launch and a
// hop cost. Each has a physical meaning and is fitted over many measured rows;
// none belongs to one model or run. The zero value of a block means that nothing
// was fitted for it.
type Kernels struct {
	Arch      string
	Vector    bool     // a CPU's vector units: no tiles, no waves, see package cost
	Devices   []string // whose kernels were measured
	SMPeak    float64  // 16-bit FLOP/s of one SM of theirs at peak; 0 = not stated
	GEMM      [unit.NumFormats]GEMM
	Attention Attention // query, key and value heads of one dimension
	MLA       Attention // latent attention expanded to heads: d_qk 192, d_v 128
	Links     Links
	Sustained Sustained
	Overheads []Overhead // what engines add around the kernels
	Engines   []Engine   // kernels of their own; the first stands in for an unknown engine
	Streams   []Stream   // of vector units
	RowEnds   []RowEnd   // likewise
	// Expert exchange in one domain, normal kernels and those of decode steps.
	Exchange, LowLatency Exchange
	Fits                 []Fit // where the constants come from
}

// CPUArch is the generation of machines whose device is a CPU with its memory.
const CPUArch = "cpu"

// Tiling is how a library cuts a product into tiles.
type Tiling uint8

const (
	// WholeK takes the tile that ends first; each goes over all of k.
	WholeK Tiling = iota
	// SplitK may besides divide k among SMs that would stay idle (cuBLAS, TensorRT-LLM).
	SplitK
	// ByRows takes its tile by the rows of the product alone: 64 rows up to 64, else 128
	// (the dispatch of vLLM's and SGLang's CUTLASS kernels; csrc/quantization/w8a8 of vLLM).
	ByRows
	NumTilings
)

var tilingNames = [...]string{"whole-k", "split-k", "by-rows"}

// String is the name in the constants' files.
func (t Tiling) String() string { return tilingNames[t] }

// ParseTiling reads a name; the empty one is WholeK.
func ParseTiling(s string) (Tiling, bool) {
	i := slices.Index(tilingNames[:], s)
	return Tiling(max(i, 0)), i >= 0 || s == ""
}

// GEMM shapes one format's matrix products. A kernel computes tiles of its output
// on the SMs, wave after wave; a tile takes its k steps and a fixed start and end.
type GEMM struct {
	Share   float64 // of the peak rate, in a full wave of large tiles with endless k
	Fill    float64 // start and end of a tile, in elements of k
	Edge    float64 // elements: a tile of tm x tn is slowed by Edge (1/tm + 1/tn)
	Quant   float64 // 0..1, how much of a partly filled last wave is lost
	Overlap float64 // 0..1, how much of the smaller of compute and memory time is not hidden
	Memory  float64 // of the HBM peak, streaming operands
	Launch  unit.Seconds
	// Step is the least time of a tile's loop, per element of k: behind it stands the
	// latency of loads, of which a pipeline holds only a few stages in flight.
	Step   unit.Seconds
	Tiling Tiling
	// Join is what a product whose k is divided pays for joining the parts, besides their
	// passage through the L2, which moves Partial times the HBM's rate. SplitK alone has them.
	Join    unit.Seconds
	Partial float64
	// Grouped products (one per expert): share of the GEMM's rate that a grouped
	// kernel keeps; 0 = not fitted.
	Grouped float64
}

// Known tells whether the block holds constants; Share is 0 in generic ones.
func (g *GEMM) Known() bool { return g.Launch > 0 || g.Share > 0 }

// Attention shapes the fused attention core, forward. A query tile walks over its
// keys and pays a fixed start, diagonal and end besides; SMs take tiles in turn,
// so the longest one may stand alone at the end.
type Attention struct {
	Share  [NumHeadDims]float64 // of the BF16 peak with endless keys, by HeadDims; 0 = not fitted
	Fill   float64              // start, diagonal and end of a tile, in keys per row
	Tail   float64              // 0..1, how much of the longest tile stands alone
	Stream float64              // passes over operands and result that no product hides
	Item   unit.Seconds         // start and end of a tile besides Fill, each SM one after the other
	Launch unit.Seconds
}

// NumHeadDims counts HeadDims.
const NumHeadDims = 5

// HeadDims are the query-key head dimensions with a rate of their own; another
// takes the rate of the next larger one.
var HeadDims = [NumHeadDims]int64{64, 128, 192, 256, 512}

// MLADim is the query-key head dimension that Kernels.MLA serves (arXiv:2405.04434).
const MLADim = 192

// Links shapes collectives inside one scale-up domain. A pipeline of the best
// chunk size moves b bytes at rate B in start + b/B + 2 sqrt(chunk b/B).
type Links struct {
	Start unit.Seconds // a collective of two ranks with a small message
	Hop   unit.Seconds // each further rank and pass of a ring
	Pair  unit.Seconds // a pairwise exchange with a small message
	Chunk unit.Seconds // latency of one chunk in the pipeline
	Own   float64      // cost of a rank's own part, as a share of sending it
	// Switch is the start of an all-reduce that is summed in the switch; 0 = none.
	Switch unit.Seconds
}

// Fitted tells whether measurements stand behind the constants.
func (l *Links) Fitted() bool { return l.Start > 0 }

// Overhead is what a serving engine adds around one kind of kernel in its
// measurements: launches of its own, quantising of activations, a slow host. It is
// the engine's, not the GPU's; training prices leave it out.
type Overhead struct {
	Engine, What string       // for example vllm, gemm fp8
	Fixed        unit.Seconds // per call
	PerRow       unit.Seconds // per row of the activations
	PerElement   unit.Seconds // per element of the activations
	Passes       float64      // passes over the activations and results at the HBM peak
	Host         unit.Seconds // the call cannot take less
}

// Fit is the origin of constants: which measurements, how many rows, how well.
type Fit struct {
	What   string // for example gemm fp8
	Tables []string
	Rows   int
	Median float64 // of |predicted/measured - 1|
	Mean   float64
}
