// Package hw describes machines: a device's peak and achieved figures, the
// links between devices, and a cluster made of equal nodes. Every figure keeps
// its source and grade. It prices nothing: package cost turns work into seconds.
//
// Peak (datasheet) and Achieved (measured) never mix in one block. A figure that
// nobody published is absent, never zero and never guessed here; what to do
// about an absent figure is decided, and reported, by package cost.
package hw

import (
	"slices"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Grade says how far a figure can be trusted.
type Grade uint8

// From best to worst. Assumed marks a figure derived from a generation's usual
// ratio because the device has no measurement of its own.
const (
	Absent Grade = iota
	Assumed
	Datasheet
	Published
	Measured
)

var gradeNames = [...]string{"absent", "assumed", "datasheet", "published", "measured"}

// String is the grade's name in reports and catalogue files.
func (g Grade) String() string { return gradeNames[g] }

// ParseGrade is the inverse of String; ok is false for an unknown name.
func ParseGrade(s string) (g Grade, ok bool) {
	i := slices.Index(gradeNames[:], s)
	return Grade(max(i, 0)), i >= 0
}

// Figure is one number with its origin. The zero Figure is absent.
type Figure struct {
	Value  float64 // SI: FLOP/s, bytes/s, bytes, seconds, watts
	Grade  Grade
	Source string // citation and conditions
	// Scaled marks an achieved figure that follows from another nominal one by its share.
	Scaled bool
}

// Known tells whether the figure exists.
func (f Figure) Known() bool { return f.Grade != Absent }

// SwitchSums is how many times its link's rate an all-reduce's bus bandwidth reaches at
// most where the switch sums: each rank then sends its share once instead of twice.
const SwitchSums = 2

// Device is one accelerator as software sees it.
type Device struct {
	Name    string // for example h800-sxm
	Aliases []string
	Vendor  string
	Arch    string  // hopper, cdna3, ...: the key of the generation's kernel constants
	SMs     int64   // streaming multiprocessors or compute units; 0 = not published
	BoostHz float64 // boost clock in Hz; 0 = not published
	Peak    Peak
	// Achieved holds measured figures on random data, the best published ones for large shapes.
	Achieved Achieved
	Siblings Shares // stand in for what Achieved lacks, see Relate
	// Others are further measurements, for display: other shapes, other data,
	// other software. Planning does not read them.
	Others []Reading
	// Kernels are the generation's fitted constants, shared and never changed; nil = none.
	Kernels       *Kernels
	DefaultNode   NodeSpec // the node that `h800x2048` means
	DefaultFabric Fabric   // and the network between such nodes
	Notes         string   // what the sources disagree about
}

// Reading is one measurement kept beside the figures that planning uses.
type Reading struct {
	Quantity string // catalogue key without its unit, for example bf16 or ep_dispatch
	Unit     string // FLOP/s, bytes/s or seconds, of Figure.Value
	Figure   Figure
}

// Peak is the datasheet. Every figure has grade Datasheet; Confidence says who
// states it.
type Peak struct {
	Confidence Confidence
	Matrix     [unit.NumFormats]Figure // dense FLOP/s with wide accumulation
	HBM        Figure                  // bytes/s
	Memory     Figure                  // bytes
	ScaleUp    Figure                  // bytes/s per GPU and direction (NVLink, Infinity Fabric, ICI, ...)
	HostLink   Figure                  // bytes/s per GPU and direction to the host (PCIe, C2C)
	TDP        Figure                  // watts
}

// Achieved is what software reached.
type Achieved struct {
	Matrix        [unit.NumFormats]Figure // best large GEMM, FLOP/s
	AttentionFwd  Figure                  // fused attention forward, BF16 causal, FLOP/s of the pairs computed
	AttentionBwd  Figure                  // fused attention backward
	HBM           Figure                  // bytes/s, streaming read and write
	ScaleUp       Figure                  // bytes/s per GPU and direction, large point-to-point or ring
	ScaleUpReduce Figure                  // busbw of a large all-reduce in one domain (in-switch reduction included)
	HostLink      Figure
	Memory        Figure // bytes that the driver gives to programs
	NIC           Figure // bytes/s per GPU and direction between nodes
}

// Capacity is the bytes of memory that programs share: what the driver reports where
// that is known, the datasheet's figure otherwise. Datasheets write GB for the GiB of
// whole memory chips, or less, and drivers keep some.
func (d *Device) Capacity() unit.Bytes {
	if d.Achieved.Memory.Known() {
		return unit.Bytes(d.Achieved.Memory.Value)
	}
	return unit.Bytes(d.Peak.Memory.Value)
}

// Confidence says where datasheet figures were read.
type Confidence uint8

// From best to worst: the maker's own page; catalogues in public repositories
// that quote it; press, resellers and catalogues that contradict each other.
const (
	ByMaker Confidence = iota
	ByRepository
	BySecondary
)

var confidenceNames = [...]string{"datasheet", "repository", "secondary"}

// String is the confidence's name in reports and catalogue files.
func (c Confidence) String() string { return confidenceNames[c] }

// ParseConfidence is the inverse of String; ok is false for an unknown name.
func ParseConfidence(s string) (c Confidence, ok bool) {
	i := slices.Index(confidenceNames[:], s)
	return Confidence(max(i, 0)), i >= 0
}

// kin lists the format whose multipliers a format shares. Block scales are
// applied beside the same multiplications, so a rate measured for one tells
// the other's where that was never measured.
var kin = map[unit.Format]unit.Format{
	unit.BF16: unit.FP16, unit.FP16: unit.BF16,
	unit.FP8Block: unit.FP8, unit.MXFP8: unit.FP8,
	unit.NVFP4: unit.MXFP4, unit.MXFP4: unit.NVFP4,
}

// MatrixRate is the rate of format f that planning uses, in FLOP/s. It is, in
// this order: the achieved figure; the achieved share of peak of the format
// that runs on the same multipliers, graded Assumed; the peak, graded
// Datasheet. Formats the device lacks are absent.
func (d *Device) MatrixRate(f unit.Format) Figure {
	if own := d.Achieved.Matrix[f]; own.Known() {
		return own
	}
	peak := d.Peak.Matrix[f]
	other, ok := kin[f]
	if !ok || !peak.Known() || !d.Peak.Matrix[other].Known() || !d.Achieved.Matrix[other].Known() {
		return peak
	}
	seen := d.Achieved.Matrix[other]
	return Figure{
		Value:  seen.Value * peak.Value / d.Peak.Matrix[other].Value,
		Grade:  Assumed,
		Source: "share of peak as measured for " + other.String() + " (" + seen.Source + ")",
	}
}

// Ridge is the FLOP per byte of memory at which multiplying in format f and streaming
// take equally long at peak; 0 where one of the rates is not known.
func (d *Device) Ridge(f unit.Format) float64 {
	if !d.Peak.Matrix[f].Known() || !d.Peak.HBM.Known() {
		return 0
	}
	return d.Peak.Matrix[f].Value / d.Peak.HBM.Value
}

// Clone is a copy whose figures can be changed without touching d; it shares
// only the kernel constants, which nobody changes.
func (d *Device) Clone() *Device {
	c := *d
	c.Aliases = slices.Clone(d.Aliases)
	c.Others = slices.Clone(d.Others)
	return &c
}

// HostLink is the achieved rate to the host, or the peak where nothing was measured.
func (d *Device) HostLink() Figure {
	if d.Achieved.HostLink.Known() {
		return d.Achieved.HostLink
	}
	return d.Peak.HostLink
}

// BlockScaled tells whether the device multiplies formats with a scale per block
// of 32 values or fewer in hardware. Those that multiply 4-bit formats do: every
// 4-bit format in use has such scales (OCP Microscaling v1.0, NVFP4).
func (d *Device) BlockScaled() bool {
	for _, f := range []unit.Format{unit.MXFP8, unit.NVFP4, unit.MXFP4} {
		if d.Peak.Matrix[f].Known() {
			return true
		}
	}
	return false
}
