package hw

import "github.com/ridgeline/ridgeline/internal/unit"

// Kernels holds the constants that shape kernel time on one generation of GPUs:
// how close to the peak software comes, and what a tile, a wave, a launch and a
// hop cost. Each has a physical meaning and is fitted over many measured rows;
// none belongs to one model or run. The zero value of a block means that nothing
// was fitted for it.
type Kernels struct {
	Arch      string
	GEMM      [unit.NumFormats]GEMM
	Attention Attention
	Stream    Stream
	Links     Links
	Fits      []Fit // where the constants come from
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
	// Grouped products (one per expert): share of the GEMM's rate that a grouped
	// kernel keeps; 0 = not fitted.
	Grouped float64
}

// Fitted tells whether measurements stand behind the constants.
func (g *GEMM) Fitted() bool { return g.Share > 0 }

// Attention shapes the fused attention core, forward.
type Attention struct {
	Share  map[int64]float64 // of the BF16 peak, by head dimension d_qk, long sequences
	Tile   float64           // rows of a query tile: the diagonal tile is computed whole
	Fill   float64           // start and end of a query tile, in rows of keys
	Launch unit.Seconds
}

// Stream shapes memory-bound passes.
type Stream struct {
	Memory float64 // of the HBM peak
	Launch unit.Seconds
}

// Links shapes collectives inside one scale-up domain.
type Links struct {
	Start unit.Seconds // a collective of two ranks with a small message
	Hop   unit.Seconds // each further rank of a ring
	Half  unit.Bytes   // message per rank at which half of the large-message rate is reached
	Share float64      // of the link's nominal rate that a ring reaches
	// InSwitch is the same share for an all-reduce summed in the switch, as busbw of
	// eight ranks; 0 = no such reduction.
	InSwitch float64
}

// Fit is the origin of constants: which measurements, how many rows, how well.
type Fit struct {
	What   string // for example gemm fp8
	Tables []string
	Rows   int
	Median float64 // of |predicted/measured - 1|
	Mean   float64
}
