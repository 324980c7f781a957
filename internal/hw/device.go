// Package hw describes machines: a device's peak and achieved figures, the
// links between devices, and a cluster made of equal nodes. Every figure keeps
// its source and grade. It prices nothing: package cost turns work into seconds.
//
// Peak (datasheet) and Achieved (measured) never mix in one block. A figure that
// nobody published is absent, never zero and never guessed here; what to do
// about an absent figure is decided, and reported, by package cost.
package hw

import "github.com/ridgeline/ridgeline/internal/unit"

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

// String is the grade's name in reports.
func (g Grade) String() string { return gradeNames[g] }

// Figure is one number with its origin. The zero Figure is absent.
type Figure struct {
	Value  float64 // SI: FLOP/s, bytes/s, bytes, seconds, watts
	Grade  Grade
	Source string // citation and conditions
}

// Known tells whether the figure exists.
func (f Figure) Known() bool { return f.Grade != Absent }

// Device is one accelerator as software sees it.
type Device struct {
	Name    string // for example h800-sxm
	Aliases []string
	Vendor  string
	Arch    string // hopper, cdna3, ...: the key of the generation's kernel constants
	SMs     int64  // streaming multiprocessors or compute units; 0 = not published
	Peak    Peak
	// Achieved holds measured figures on random data, the best published ones for large shapes.
	Achieved    Achieved
	DefaultNode NodeSpec // the node that `h800x2048` means
	Notes       string
}

// Peak is the datasheet.
type Peak struct {
	Matrix   [unit.NumFormats]Figure // dense FLOP/s with wide accumulation
	HBM      Figure                  // bytes/s
	Memory   Figure                  // bytes
	ScaleUp  Figure                  // bytes/s per GPU and direction (NVLink, Infinity Fabric, ICI, ...)
	HostLink Figure                  // bytes/s per GPU and direction to the host (PCIe, C2C)
	TDP      Figure                  // watts
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
	NIC           Figure // bytes/s per GPU and direction between nodes
}

// MatrixRate is the achieved rate of format f, or the peak where nothing was
// measured; the figure's grade tells which. Formats a device lacks are absent.
func (d *Device) MatrixRate(f unit.Format) Figure {
	if d.Achieved.Matrix[f].Known() {
		return d.Achieved.Matrix[f]
	}
	return d.Peak.Matrix[f]
}
